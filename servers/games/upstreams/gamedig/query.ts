import type { GameDig } from 'gamedig'
import { z } from 'zod'
import type { Clock } from '../../../kit/clock.ts'
import { cleanText } from '../../../kit/text.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { GameStatus } from '../../game.ts'
import { toNames } from '../names.ts'
import { MASTERS } from './masters.ts'

/**
 * Most attempts, each with its part of the time: a packet may be lost, a game may answer only a few queries a
 * second, and some have a query port beside their own.
 */
const ATTEMPTS = 3
const MAX_SUGGESTIONS = 5
const LISTED_GAMES = 'https://github.com/gamedig/node-gamedig/blob/master/GAMES_LIST.md'

/** A query for gamedig. */
export interface Question {
  type: string
  host: string
  port?: number | undefined
  countBots?: boolean | undefined
  options?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** The loaded gamedig: its queries and its list of games. */
export interface Gamedig {
  readonly games: typeof import('gamedig')['games']
  readonly protocols: typeof import('gamedig')['protocols']
  readonly queries: Pick<GameDig, 'query'>
}

interface Asking {
  where: string
  limit: number
  clock: Clock
  gamedig: Gamedig
  /** Most attempts; default 3. */
  attempts?: number | undefined
}

const player = z.object({ name: z.string().catch('') })
/** A count; some protocols leave figures as text. No game has more players than ports. */
const count = z.coerce.number().int().min(0).max(65_535)
/** Tells whether a protocol has no value for a figure. */
const isAbsent = (value: unknown) => value === null || value === '' || Number.isNaN(value)
const answer = z.object({
  name: z.string().catch(''),
  map: z.string().catch(''),
  version: z.string().catch(''),
  // A wrong figure must not become 0: that would mean an empty server.
  numplayers: z.preprocess(value => (isAbsent(value) ? undefined : value), count.optional()),
  maxplayers: count.optional().catch(undefined),
  players: z.array(player).catch([]),
  bots: z.array(player).catch([]),
  ping: z.number().nonnegative().catch(0),
})

let loaded: Promise<Gamedig> | undefined

/** Loads gamedig at the first call: it takes 40 MB. All queries share its UDP socket. */
export function loadGamedig(): Promise<Gamedig> {
  loaded ??= import('gamedig').then(({ GameDig, games, protocols }) => ({
    games,
    protocols,
    queries: new GameDig(),
  }))
  return loaded
}

/**
 * Queries a game. Rejects with an error for `explainWire`. gamedig takes no signal: an abandoned query ends by its own
 * time limit.
 */
export async function askGamedig(question: Question, asking: Asking): Promise<GameStatus> {
  const { type, host, port, options = {} } = question
  const { gamedig, limit, clock, attempts = ATTEMPTS } = asking
  const plan = toPlan(type, asking)
  const from = clock.monotonic()
  const raw = await gamedig.queries
    .query({
      ...options,
      type,
      host,
      ...(port === undefined ? {} : { port }),
      ...plan,
      ipFamily: 4,
      socketTimeout: Math.ceil(limit / ATTEMPTS),
      attemptTimeout: limit,
      maxRetries: attempts,
    })
    .catch((error: unknown) => Promise.reject(toCause(error)))
  const parsed = answer.safeParse(raw)
  if (!parsed.success) throw new Error('the answer made no sense')
  return toStatus(parsed.data, question, clock.monotonic() - from)
}

/** Checks the type, and tells whether only the given port is worth asking. */
function toPlan(type: string, asking: Asking): { givenPortOnly: boolean } {
  const { games, protocols } = asking.gamedig
  const game = games[type]
  const protocol = type.startsWith('protocol-') ? type.slice('protocol-'.length) : game?.options.protocol
  if (protocol === undefined || !(protocol in protocols)) throw unknownType(type, asking)
  const master = MASTERS.get(protocol)
  if (master !== undefined) throw masterType(type, master, asking)
  const { port_query, port_query_offset } = game?.options ?? {}
  return { givenPortOnly: port_query === undefined && port_query_offset === undefined }
}

function unknownType(type: string, { where, gamedig }: Asking): UpstreamFailure {
  const wanted = type.toLowerCase()
  const close = Object.entries(gamedig.games)
    .filter(([id, game]) => id.includes(wanted) || game?.name.toLowerCase().includes(wanted))
    .slice(0, MAX_SUGGESTIONS)
    .map(([id, game]) => `${id} (${game?.name})`)
  const list = `the list of types is at ${LISTED_GAMES}`
  return new UpstreamFailure({
    kind: 'refused',
    what: 'The query has a type that does not exist.',
    where,
    why: `gamedig knows no "${cleanText(type, 60)}"`,
    fix: `Change the type in the settings${close.length > 0 ? ` to one such as ${close.join(', ')}` : ''}; ${list}.`,
  })
}

function masterType(type: string, master: string, { where }: Asking): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'refused',
    what: `The query's type ${cleanText(type, 60)} does not ask the game server itself.`,
    where,
    why: `it asks ${master} on the internet, which this server never does`,
    fix: 'Leave the query out of the settings, or use another type that the game answers, such as protocol-valve.',
  })
}

/**
 * Returns what gamedig's error means: its stack alone contains the errors of its attempts, with lines of code
 * between them.
 */
function toCause(error: unknown): Error {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const said = [...stack.matchAll(/^\w*Error: (.+)$/gm)].map(match => match[1] ?? '')
  const reason = cleanText(said.findLast(line => !line.startsWith('Failed all')) ?? 'it failed')
  if (/timed out/i.test(reason)) return new DOMException(reason, 'TimeoutError')
  const code = /\bE(?:AI_AGAIN|[A-Z]{5,})\b/.exec(reason)?.[0] ?? (/refused/i.test(reason) && 'ECONNREFUSED')
  if (code) return Object.assign(new Error(reason), { code })
  return new Error(`the answer made no sense (${reason})`)
}

/**
 * Converts gamedig's answer, which counts bots as players. A protocol without a figure leaves 0; then the
 * lists' lengths count.
 */
function toStatus(raw: z.output<typeof answer>, { countBots = false }: Question, took: number): GameStatus {
  const bots = raw.bots.length
  const total = raw.numplayers || raw.players.length + bots
  const counted = countBots ? [...raw.players, ...raw.bots] : raw.players
  const players = countBots ? total : Math.max(0, total - bots)
  return {
    name: cleanText(raw.name, 100),
    map: toKnown(raw.map),
    version: toKnown(raw.version),
    players,
    // gamedig's initial value is 0.
    maxPlayers: raw.maxplayers || undefined,
    bots: countBots ? 0 : bots,
    names: toNames(
      counted.map(({ name }) => name),
      players,
    ),
    ping: Math.round(raw.ping || took),
  }
}

/** Returns a known text; gamedig writes "undefined" if a protocol has no version. */
function toKnown(text: string): string | undefined {
  const clean = cleanText(text, 100)
  return clean === '' || clean === 'undefined' ? undefined : clean
}
