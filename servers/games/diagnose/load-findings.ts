import { toByteText, toPercentText } from '../../kit/text.ts'
import type { Facts, HostLoad } from './facts.ts'
import type { Finding } from './finding.ts'

/** Per cent of one core: most games do their work in one thread. */
const BUSY = 95
/** Load of the machine for each core. */
const CROWDED = 1.5
/** Per cent of the memory that is free. */
const SCARCE = 5
/** Milliseconds; players notice more than this. */
const SLOW = 150

/** Finds reasons why a game that answers may be slow, or full. */
export function findLoadTrouble(facts: Facts): Finding[] {
  return [...findUse(facts), ...(facts.host ? findHostTrouble(facts.host) : []), ...findAnswer(facts)]
}

function findUse({ use }: Facts): Finding[] {
  if (!use.ok || use.value === undefined || use.value.cpuPercent < BUSY) return []
  return [
    {
      finding: 'It uses all that one core can do.',
      evidence: [
        `CPU ${toPercentText(use.value.cpuPercent)} of one core, memory ${toByteText(use.value.memoryBytes)}.`,
      ],
      whatToDo:
        'Most games do their work in one thread: lower what it has to do (view distance, entities, bots, mods), or move it to a faster core.',
      weight: 60,
    },
  ]
}

function findHostTrouble({ load, cores, totalBytes, availableBytes }: HostLoad): Finding[] {
  const left = totalBytes > 0 ? (availableBytes / totalBytes) * 100 : 100
  const crowded = load / cores >= CROWDED
  return [
    ...(left < SCARCE
      ? [
          {
            finding: 'The machine is short of memory.',
            evidence: [`${toByteText(availableBytes)} of ${toByteText(totalBytes)} are left.`],
            whatToDo: 'Find what uses it (get_processes), and stop or move something.',
            weight: 66,
          },
        ]
      : []),
    ...(crowded
      ? [
          {
            finding: 'The machine has more to do than its cores can.',
            evidence: [`A load of ${load.toFixed(1)} on ${cores} cores over the last minute.`],
            whatToDo:
              'Find what uses the CPU (get_processes): downloads being unpacked, transcoding and backups can be paused.',
            weight: 62,
          },
        ]
      : []),
  ]
}

function findAnswer({ status }: Facts): Finding[] {
  if (!status?.ok) return []
  const { ping, players, maxPlayers } = status.value
  const full = maxPlayers !== undefined && maxPlayers > 0 && players >= maxPlayers
  return [
    ...(ping >= SLOW
      ? [
          {
            finding: 'It answers slowly.',
            evidence: [`${ping} ms from question to answer.`],
            whatToDo:
              'On the same network this should be a few milliseconds: look at the CPU and the network of its machine.',
            weight: 50,
          },
        ]
      : []),
    ...(full
      ? [
          {
            finding: 'It is full: nobody else can join.',
            evidence: [`${players} of at most ${maxPlayers} players.`],
            whatToDo: 'Raise the number of players in its settings if the machine can take more.',
            weight: 42,
          },
        ]
      : []),
  ]
}
