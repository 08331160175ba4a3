import { z } from 'zod'
import { type Clock, sleep, withLimit } from '../../kit/clock.ts'
import { confirmField, confirmOutput, toPreview } from '../../kit/confirm.ts'
import { toFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import type { Report } from '../../kit/progress.ts'
import { cleanText, quote, toCountText } from '../../kit/text.ts'
import { type BackendState, type Console, type Game, isRunning } from '../game.ts'
import type { Games } from '../games.ts'
import { type Presence, readPresence, toPlayersFields, toPlayersText } from './presence.ts'
import { serverField } from './server-field.ts'

const QUERY_LIMIT = 4000
const SAY_LIMIT = 4000
/** Seconds before the end at which players are warned again. */
const LAST_CALL = 5

/** The arguments of the tools that end a game. */
export const endingInput = (games: Pick<Games, 'declared'>) =>
  z.strictObject({
    server: serverField(games),
    confirm: confirmField,
    warnSeconds: z.int().min(0).max(600).default(30).describe('0: without a warning'),
  })

/** Output fields about the players. */
export const endingOutput = {
  server: z.string(),
  ...confirmOutput,
  players: z.int().optional().describe('who were online, bots not counted; absent: unknown'),
  names: z.array(foreignText(60)).optional().describe('who was online, where the game tells'),
  warned: z.boolean().describe('whether they were told in the game before'),
}

export interface Ending {
  /** The verb in texts: "stop", "restart". */
  verb: string
  confirm: boolean
  warnSeconds: number
  clock: Clock
  signal: AbortSignal
  report: Report
}

/** The players and their warning before the end of a game. */
export interface Farewell {
  presence: Presence
  warned: boolean
  /** Text about the players. */
  said: string
  /** Seconds that the warning waited. */
  seconds: number
}

/**
 * Returns the preview if players are online and the call is not confirmed; else warns them and waits.
 * `state`: the game's state before.
 */
export async function prepareEnd(
  game: Game,
  state: BackendState,
  ending: Ending,
): Promise<Farewell | ReturnType<typeof toPreview>> {
  const { confirm, clock, signal } = ending
  if (!isRunning(state)) {
    return { presence: { kind: 'unasked' }, warned: false, said: 'It did not run before.', seconds: 0 }
  }
  const presence = await readPresence(game, QUERY_LIMIT, clock, signal)
  if (presence.kind !== 'answers') {
    return { presence, warned: false, said: toUnknownText(presence), seconds: 0 }
  }
  const { players } = presence.status
  if (players === 0) return { presence, warned: false, said: 'Nobody was online.', seconds: 0 }
  if (!confirm) return toRefusal(game, ending, presence)
  const online = `${toCountText(players, 'player was', 'players were')} online`
  const warning = await warn(game, ending)
  return {
    presence,
    warned: warning.kind === 'warned',
    said: `${online}${toWarningText(warning, ending)}`,
    seconds: warning.kind === 'warned' ? ending.warnSeconds : 0,
  }
}

/** Returns the output fields about the players. */
export function toFarewellFields({ presence, warned }: Farewell) {
  const { players, names } = toPlayersFields(presence)
  return { players, names, warned }
}

function toUnknownText(presence: Exclude<Presence, { kind: 'answers' }>): string {
  return presence.kind === 'unasked'
    ? 'Who was online is not known: it has no query in its settings.'
    : `Who was online is not known, since it did not answer: ${quote(presence.why, 300)}.`
}

function toRefusal(game: Game, ending: Ending, presence: Presence & { kind: 'answers' }) {
  const { verb, warnSeconds } = ending
  const { players } = presence.status
  const canWarn = game.console !== undefined && warnSeconds > 0
  const effects = [
    `Online now: ${toPlayersText(presence.status)}.`,
    canWarn
      ? `They would be told in the game ${warnSeconds} s before.`
      : `They would not be warned: ${game.console ? 'warnSeconds is 0' : 'the server has no console in its settings'}.`,
  ]
  return toPreview(`${verb} ${game.name} with ${toCountText(players, 'player')} online`, effects)
}

type Warning =
  | { kind: 'warned' }
  | { kind: 'impossible' }
  | { kind: 'unwanted' }
  | { kind: 'failed'; why: string }

async function warn(game: Game, ending: Ending): Promise<Warning> {
  const { clock, signal, verb, warnSeconds } = ending
  const { console } = game
  if (!console) return { kind: 'impossible' }
  if (warnSeconds === 0) return { kind: 'unwanted' }
  try {
    await say(console, `This server will ${verb} in ${toCountText(warnSeconds, 'second')}.`, clock, signal)
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'failed', why: cleanText(toFailure(error, console.where).why) }
  }
  try {
    await countDown(console, game, ending)
  } catch (error) {
    // The call was cancelled: players who read the warning must not wait for an end that does not come.
    const unhurried = new AbortController().signal
    await say(console, `The server will not ${verb} after all.`, clock, unhurried).catch(() => undefined)
    throw error
  }
  return { kind: 'warned' }
}

async function countDown(console: Console, game: Game, ending: Ending): Promise<void> {
  const { clock, signal, report, verb, warnSeconds } = ending
  for (let passed = 0; passed < warnSeconds; passed++) {
    const left = warnSeconds - passed
    report(passed, warnSeconds, `players of ${game.name} were warned, it will ${verb} in ${left} s`)
    if (left === LAST_CALL && passed > 0) {
      // The players are warned already; a console that fails now changes nothing.
      await say(console, `${left} seconds left.`, clock, signal).catch(() => signal.throwIfAborted())
    }
    await sleep(clock, 1000, signal)
  }
}

function say(console: Console, text: string, clock: Clock, signal: AbortSignal): Promise<void> {
  return withLimit(inner => console.say(text, inner), SAY_LIMIT, clock, signal)
}

function toWarningText(warning: Warning, { warnSeconds }: Ending): string {
  switch (warning.kind) {
    case 'warned':
      return ` and warned ${warnSeconds} s before.`
    case 'impossible':
      return ', not warned since the server has no console in its settings.'
    case 'unwanted':
      return ', not warned.'
    case 'failed':
      return `; they could not be warned: ${quote(warning.why)}.`
    default:
      return warning satisfies never
  }
}
