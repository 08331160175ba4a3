import { expect } from 'vitest'
import { listDeadLetters } from '../../hub/store/dead-letters.ts'
import type { World } from './runtime-world.ts'
import { refuse } from './scripted-model.ts'

/** Milliseconds of the retries for an unreachable model, before the cycle waits for its provider. */
export const NETWORK_WAITS = [1_500, 1_500, 10_000, 20_000, 40_000]

/** Returns the messages to people besides replies. */
export const told = (world: World) =>
  world.seen.messages.all.filter(({ kind }) => kind === 'error' || kind === 'notice')

export const said = (world: World) =>
  world.seen.messages.all.filter(({ kind }) => kind === 'agent').map(({ text }) => text)

/** Returns the states of all cycles in the order of their starts. */
export async function statuses(world: World): Promise<string[]> {
  const rows = await world.store.db.selectFrom('cycles').select('status').orderBy('fence').execute()
  return rows.map(({ status }) => status)
}

export const openLetters = (world: World) => listDeadLetters(world.store.db, 'open')

/** Posts a message and fails every retry, until its cycle waits for the provider. */
export async function parkOne(world: World, text = 'hi', conversation = 'homelab'): Promise<void> {
  world.model.script(...NETWORK_WAITS.map(() => refuse('network')), refuse('network'))
  await world.post(text, conversation)
  let timers = 0
  for (const wait of NETWORK_WAITS) {
    timers = await world.clock.armed(wait, timers)
    world.clock.advance(wait)
  }
  await world.idle()
  expect(world.model.left).toBe(0)
}
