import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { known, toFacts, toFindingText } from '../../kit/render.ts'
import { toByteText, toCountText, toPercentText, toSpanText, toTenth } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import { type Facts, type HostLoad, readFacts, readHostLoad } from '../diagnose/facts.ts'
import { decideFindings, type Verdict } from '../diagnose/findings.ts'
import { isRunning } from '../game.ts'
import type { Games } from '../games.ts'
import { serverField } from './server-field.ts'

const output = z.object({
  server: z.string(),
  title: z.string(),
  verdict: z
    .enum(['ok', 'trouble', 'down', 'unknown'])
    .describe('ok: nothing wrong was found; down: it does not run; unknown: too little could be looked at'),
  findings: z
    .array(
      z.object({
        finding: z.string(),
        evidence: z.array(foreignText(400)),
        whatToDo: z.string(),
      }),
    )
    .describe('what may be wrong, the likeliest first'),
  seen: z
    .object({
      state: z.string().optional().describe('what its backend says'),
      upSeconds: z.number().optional(),
      restarts: z.int().optional().describe('how often it was started anew by itself'),
      health: z.string().optional(),
      players: z.int().optional(),
      maxPlayers: z.int().optional(),
      pingMs: z.number().optional(),
      cpuPercent: z.number().optional().describe('of one core, so it may exceed 100'),
      memoryBytes: z.number().optional(),
      hostLoad: z.number().optional().describe('of the machine that this runs on, over the last minute'),
      hostCores: z.int().optional(),
      hostMemoryAvailableBytes: z.number().optional(),
    })
    .describe('what was looked at; absent: not known'),
  notSeen: z.array(foreignText(400)).describe('what could not be looked at, and why'),
})
type Data = DataOf<typeof output>

const SENTENCES: Readonly<Record<Verdict, string>> = {
  ok: 'nothing wrong was found',
  trouble: 'something may be wrong',
  down: 'it does not run',
  unknown: 'too little could be looked at to say',
}

interface DiagnoseDeps {
  games: Pick<Games, 'declared' | 'pick'>
  clock: Clock
  host?: () => HostLoad
}

/** `diagnose_game_server`: checks in one call why a game server is down, slow or silent. */
export function diagnoseGameServer({ games, clock, host = readHostLoad }: DiagnoseDeps): Tool {
  return defineTool({
    name: 'diagnose_game_server',
    title: 'Diagnose a game server',
    description:
      'Why a game server is down, slow, laggy or cannot be joined: findings with evidence and what to do, ' +
      'the likeliest first, from its state, memory, health, log, answer and the load of the machine. Call ' +
      'it first when players complain.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({ server: serverField(games) }),
    output,
    async run({ server }, signal, report) {
      const game = await games.pick(server, signal)
      const facts = await readFacts(game, { clock, host }, signal, report)
      const { verdict, findings } = decideFindings(facts)
      const seen = toSeen(facts)
      const notSeen = toNotSeen(facts)
      return {
        data: { server: game.name, title: game.title, verdict, findings, seen, notSeen },
        text: [
          `${game.title}: ${SENTENCES[verdict]}.`,
          findings.map(toFindingText),
          `Seen: ${toSeenText(seen)}.`,
          notSeen.length > 0 && ['Not seen:', notSeen.map(one => `- ${one}`)],
        ],
      }
    },
  })
}

function toSeen({ state, status, use, host, now }: Facts): Data['seen'] {
  const backend = state.ok ? state.value : undefined
  const answer = status?.ok ? status.value : undefined
  const used = use.ok ? use.value : undefined
  const startedAt = backend?.state === 'running' ? backend.startedAt : undefined
  return {
    state: backend && `${backend.state}, ${backend.detail}`,
    upSeconds: startedAt && Math.max(0, Math.round((now - startedAt) / 1000)),
    restarts: backend?.restarts,
    health: backend?.health,
    players: answer?.players,
    maxPlayers: answer?.maxPlayers,
    pingMs: answer?.ping,
    cpuPercent: used && toTenth(used.cpuPercent),
    memoryBytes: used?.memoryBytes,
    hostLoad: host && toTenth(host.load),
    hostCores: host?.cores,
    hostMemoryAvailableBytes: host?.availableBytes,
  }
}

/** Lists the failed checks; a stopped game's missing answer and use are not listed. */
function toNotSeen({ state, status, log, use }: Facts): string[] {
  const runs = !state.ok || isRunning(state.value)
  return [
    ...(state.ok ? [] : [`Its state: ${state.why}`]),
    ...(status && !status.ok && runs ? [`Who plays: ${status.why}`] : []),
    ...(log.ok ? [] : [`Its log: ${log.why}`]),
    ...(use.ok || !runs ? [] : [`What it uses: ${use.why}`]),
  ]
}

function toSeenText({ hostCores = 1, ...seen }: Data['seen']): string {
  const most = known(seen.maxPlayers, players => ` of at most ${players}`) ?? ''
  const facts = [
    seen.state,
    known(seen.upSeconds, seconds => `up for ${toSpanText(seconds)}`),
    known(seen.players, players => `${toCountText(players, 'player')}${most}`),
    known(seen.pingMs, ping => `answers in ${ping} ms`),
    known(seen.cpuPercent, percent => `CPU ${toPercentText(percent)} of one core`),
    known(seen.memoryBytes, bytes => `memory ${toByteText(bytes)}`),
    known(seen.hostLoad, load => `machine load ${load} on ${toCountText(hostCores, 'core')}`),
  ]
  return toFacts(facts, '; ') || 'nothing'
}
