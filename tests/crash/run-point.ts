import { within } from '../support/until.ts'
import { findProblems } from './checks.ts'
import type { Point } from './points.ts'
import { type Life, openWorld, type World } from './world.ts'

/** Milliseconds that a clean stop may take. */
const END_MS = 10_000
/** Milliseconds that a hub may take to reach its point on a busy machine. */
const REACH_MS = 60_000

/** A row of the table: the kill or stop, and the broken promises. */
export interface Outcome {
  name: string
  /** Number of times that the hub ended there. */
  ends: number
  problems: string[]
  /** The work that the hub did meanwhile. */
  load?: Load
}

export interface Load {
  messages: number
  calls: number
  unknown: number
  wakes: number
  events: number
  compactions: number
  approvals: number
  deadLetters: number
}

/** Kills the hub at the point, starts it again, and checks everything. */
export function killAt(point: Point): Promise<Outcome> {
  return tryPoint(point, async life => {
    if (typeof point.when === 'function') life.program.signal('SIGKILL')
    const { code, signal } = await within(`the end at "${point.name}"`, life.ended, REACH_MS)
    return signal === 'SIGKILL' ? [] : [`It ended by ${signal ?? code} and not by SIGKILL`]
  })
}

/** Sends SIGTERM at the moment, starts the hub again, and checks everything. */
export function endAt(point: Point): Promise<Outcome> {
  return tryPoint(point, endInOrder)
}

/** Stops the hub and returns the problems of its stop. */
export async function endInOrder(life: Life): Promise<string[]> {
  const began = performance.now()
  life.program.signal('SIGTERM')
  const { code, signal } = await within('the end after SIGTERM', life.ended, 3 * END_MS)
  const took = performance.now() - began
  return [
    ...(code === 0 ? [] : [`After SIGTERM it ended with ${signal ?? code} and not with 0`]),
    ...(took <= END_MS ? [] : [`After SIGTERM it took ${Math.round(took / 1000)} s to end`]),
  ]
}

async function tryPoint(point: Point, end: (life: Life) => Promise<string[]>): Promise<Outcome> {
  const outcome: Outcome = { name: point.name, ends: 0, problems: [] }
  const { when, times = 1 } = point
  try {
    await using world = await openWorld()
    point.prepare?.(world)
    // A killed hub does not answer, so the remaining messages are not expected.
    void speak(world, [point.says].flat()).catch(() => undefined)
    while (outcome.ends < times) {
      const seen = typeof when === 'function' ? when(world) : undefined
      const life = await world.enter(typeof when === 'function' ? undefined : when)
      await seen
      outcome.problems.push(...(await end(life)))
      outcome.ends++
    }
    release(world)
    outcome.problems.push(...(await settle(world)), ...(point.check?.(world) ?? []))
  } catch (error) {
    outcome.problems.push(error instanceof Error ? error.message : String(error))
  }
  return outcome
}

async function speak({ person }: World, texts: readonly string[]): Promise<void> {
  for (const [index, text] of texts.entries()) {
    person.say('alpha', text)
    const isAnswer = () => person.shown.all.filter(({ kind }) => kind === 'agent').length > index
    await person.shown.find('the answer', isAnswer, 0, REACH_MS)
  }
}

function release(world: World): void {
  world.provider.holds = () => false
  world.tools.hold = false
  world.setTicking(false)
}

/** Lets the hub finish its work, stops it cleanly, and returns the problems. */
export async function settle(world: World): Promise<string[]> {
  const life = await world.enter()
  await world.quiet()
  return [...(await endInOrder(life)), ...findProblems(world)]
}

export function countLoad({ rows, person, tools }: World): Load {
  const count = (sql: string) =>
    rows<{ count: number }>(`select count(*) as count from ${sql}`)[0]?.count ?? 0
  return {
    messages: person.wishes.length,
    calls: count('tool_calls'),
    unknown: count("tool_calls where status = 'unknown'"),
    wakes: count("inbox where source = 'schedule'"),
    events: tools.raised.length,
    compactions: count('sessions'),
    approvals: count('approvals'),
    deadLetters: count('dead_letters'),
  }
}
