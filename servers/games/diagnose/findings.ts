import type { Finding } from '../../kit/render.ts'
import { known, toFacts } from '../../kit/render.ts'
import { toAgeText, toByteText, toPercentText, toSpanText } from '../../kit/text.ts'
import { type BackendState, isRunning } from '../game.ts'
import type { Facts, HostLoad } from './facts.ts'
import { findInLog } from './log-signs.ts'

export type Verdict = 'ok' | 'trouble' | 'down' | 'unknown'

/** A finding and how likely it is the cause of trouble, 0 to 100; below 40 it is only worth knowing. */
export interface Weighed extends Finding {
  weight: number
}

/** Lowest weight that is trouble. */
const TROUBLE = 40
/** Number of restarts from which they count as a loop. */
const LOOP = 3
/** Per cent of one core: most games do their work in one thread. */
const BUSY = 95
/** Load of the machine for each core. */
const CROWDED = 1.5
/** Per cent of the memory that is free. */
const SCARCE = 5
/** Milliseconds; players notice more than this. */
const SLOW = 150
/** Exit codes that may come from a requested end: 0, and those of SIGINT, SIGKILL and SIGTERM in a shell. */
const REQUESTED = new Map([
  [0, 'it ended in order'],
  [130, 'ended by SIGINT'],
  [137, 'killed: it did not stop in time, or was too large'],
  [143, 'ended by SIGTERM, as a stop does'],
])

/** Decides the verdict and the findings, the likeliest first. */
export function decideFindings(facts: Facts): { verdict: Verdict; findings: Weighed[] } {
  const { use, host, log, state, status } = facts
  const isWell = state.ok && state.value.state === 'running' && status?.ok === true
  const findings = [
    ...findStateTrouble(facts),
    ...(log.ok ? findInLog(log.value, isWell) : []),
    use.ok && use.value && findUse(use.value),
    ...(host ? findHostTrouble(host) : []),
    ...findSlowness(facts),
  ]
  const found = findings.filter(finding => finding !== undefined && finding !== false)
  return { verdict: decideVerdict(facts, found), findings: found.sort((a, b) => b.weight - a.weight) }
}

function decideVerdict({ state, status }: Facts, findings: readonly Weighed[]): Verdict {
  if (state.ok && !isRunning(state.value)) return 'down'
  if (findings.some(({ weight }) => weight >= TROUBLE)) return 'trouble'
  return state.ok || status?.ok ? 'ok' : 'unknown'
}

function toFinding(
  weight: number,
  finding: string,
  evidence: readonly (string | undefined)[],
  whatToDo: string,
): Weighed {
  return { weight, finding, evidence: evidence.filter(one => one !== undefined), whatToDo }
}

/** Finds trouble in the state of the backend and of the query. */
function findStateTrouble(facts: Facts): (Weighed | undefined)[] {
  const { game, state, now } = facts
  if (!state.ok) return [findSilence(facts)]
  const { value } = state
  if (value.state === 'missing') {
    const whatToDo =
      'Create it anew where it was defined (such as docker compose up -d), or correct its name in the settings.'
    return [toFinding(100, `There is no ${game.backend.where}.`, [value.detail], whatToDo)]
  }
  const memory = findMemoryEnd(value, now)
  if (!isRunning(value)) return [memory ?? findEnd(value, now), findRestarts(value)]
  return [memory, findRestarts(value), findSilence(facts), findIllness(value)]
}

function findEnd({ state, exitCode, stoppedAt, detail }: BackendState, now: number): Weighed {
  const meaning = known(REQUESTED.get(exitCode ?? -1), words => ` (${words})`) ?? ''
  const evidence = [
    known(exitCode, code => `Its exit code was ${code}${meaning}.`),
    known(stoppedAt, at => `It ended ${toAgeText(at, now)}.`),
    detail,
  ]
  return state === 'failed'
    ? toFinding(
        90,
        'It crashed.',
        evidence,
        'Read what it logged last (get_game_server_logs), mend that, then start it (start_game_server).',
      )
    : toFinding(
        86,
        'It is stopped.',
        evidence,
        'Start it (start_game_server), unless it was stopped on purpose.',
      )
}

function findMemoryEnd({ oom, stoppedAt, exitCode }: BackendState, now: number): Weighed | undefined {
  if (!oom) return undefined
  const when = known(stoppedAt, at => ` ${toAgeText(at, now)}`) ?? ''
  return toFinding(
    95,
    'The system ended it for using too much memory.',
    [`${toFacts([`Out of memory${when}`, known(exitCode, code => `exit code ${code}`)])}.`],
    'Raise the memory limit of its container or unit, or lower what the game may take (its heap, its view distance, its mods).',
  )
}

function findRestarts({ restarts = 0, exitCode }: BackendState): Weighed | undefined {
  if (restarts === 0) return undefined
  const isLoop = restarts >= LOOP
  return toFinding(
    isLoop ? 85 : 35,
    isLoop ? 'It keeps ending and is started again and again.' : 'It was started again by itself.',
    [
      `It was started anew ${restarts === 1 ? 'once' : `${restarts} times`} by itself.`,
      known(exitCode, code => `The last time it had ended with exit code ${code}.`),
    ],
    'Look in its log (get_game_server_logs) for why it ended.',
  )
}

/** Explains why the game does not answer: it is still starting, its query is wrong, or it hangs. */
function findSilence({ game, now, state, status }: Facts): Weighed | undefined {
  if (!status) {
    return toFinding(
      20,
      'Nobody can ask the game itself: it has no query.',
      [`The settings of ${game.name} have no query.`],
      'Add a query (type, host, port) to its settings, so that this can tell whether it answers and who plays.',
    )
  }
  if (status.ok) return undefined
  if (status.settings) {
    const whatToDo = 'Correct the type, host and port of its query in the settings.'
    return toFinding(78, 'Its query cannot work as it is set up.', [status.why], whatToDo)
  }
  const backend = state.ok ? state.value : undefined
  const up = known(backend?.startedAt, at => (now - at) / 1000)
  const since = known(up, seconds => `It has run for ${toSpanText(seconds)}.`)
  if (backend?.state === 'starting' || (up !== undefined && up < game.startSeconds)) {
    return toFinding(
      79,
      'It is still starting.',
      [since, `A start may take ${toSpanText(game.startSeconds)}.`, status.why],
      'Wait and ask again; if it stays so, read its log (get_game_server_logs).',
    )
  }
  return toFinding(
    76,
    'It runs but does not answer.',
    [status.why, since],
    'It hangs, or it is asked at the wrong place. If it answered before, restart it (restart_game_server); if it never did, check the host and port of its query and whether the port is published.',
  )
}

function findIllness({ health, detail }: BackendState): Weighed | undefined {
  const whatToDo =
    'Read its log (get_game_server_logs); if it does not answer either, restart it (restart_game_server).'
  return health === 'unhealthy' ? toFinding(72, 'Its own health check fails.', [detail], whatToDo) : undefined
}

function findUse(use: { cpuPercent: number; memoryBytes: number }): Weighed | false {
  const evidence = `CPU ${toPercentText(use.cpuPercent)} of one core, memory ${toByteText(use.memoryBytes)}.`
  const whatToDo =
    'Most games do their work in one thread: lower what it has to do (view distance, entities, bots, mods), or move it to a faster core.'
  return use.cpuPercent >= BUSY && toFinding(60, 'It uses all that one core can do.', [evidence], whatToDo)
}

function findHostTrouble({ load, cores, totalBytes, availableBytes }: HostLoad): (Weighed | false)[] {
  const left = totalBytes > 0 ? (availableBytes / totalBytes) * 100 : 100
  return [
    left < SCARCE &&
      toFinding(
        66,
        'The machine is short of memory.',
        [`${toByteText(availableBytes)} of ${toByteText(totalBytes)} are left.`],
        'Find what uses it (get_processes), and stop or move something.',
      ),
    load / cores >= CROWDED &&
      toFinding(
        62,
        'The machine has more to do than its cores can.',
        [`A load of ${load.toFixed(1)} on ${cores} cores over the last minute.`],
        'Find what uses the CPU (get_processes): downloads being unpacked, transcoding and backups can be paused.',
      ),
  ]
}

/** Finds why a game that answers may be slow to join, or full. */
function findSlowness({ status }: Facts): (Weighed | false)[] {
  if (!status?.ok) return []
  const { ping, players, maxPlayers = 0 } = status.value
  return [
    ping >= SLOW &&
      toFinding(
        50,
        'It answers slowly.',
        [`${ping} ms from question to answer.`],
        'On the same network this should be a few milliseconds: look at the CPU and the network of its machine.',
      ),
    maxPlayers > 0 &&
      players >= maxPlayers &&
      toFinding(
        42,
        'It is full: nobody else can join.',
        [`${players} of at most ${maxPlayers} players.`],
        'Raise the number of players in its settings if the machine can take more.',
      ),
  ]
}
