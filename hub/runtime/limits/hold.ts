import type { ChatMessage } from '../../../schemas/chat.ts'
import { appendMessage, hasNoticeOfDay } from '../../store/conversations.ts'
import type { HistoryEntry } from '../../store/history.ts'
import { type InboxItem, waitingItems } from '../../store/inbox.ts'
import { holdThread, mainThreadId } from '../../store/threads.ts'
import { addUsage } from '../../store/usage.ts'
import type { Tx } from '../../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { toPreamble } from '../prompt.ts'
import { userMessages } from '../reply.ts'
import type { Anchor } from '../tokens.ts'
import { dayBounds } from './bounds.ts'
import { mayShrinkTo } from './cycle-tokens.ts'
import { type LimitReached, toLimitReached, toWakesReached } from './limit-reached.ts'
import type { Meter, Reservation } from './meter.ts'
import { toMicros } from './prices.ts'
import { decideRoom, type PlannedCall, type Room } from './room.ts'

/** Thrown if the first call of a cycle may fit into the budget once other calls have ended. */
export class RoomTaken extends Error {}

/** Budget reservations for the first call of each cycle that has just begun, until it makes its own. */
export interface Places {
  take(thread: string, place: Reservation): void
  /** Returns the reservation of the thread, if there is one. */
  of(thread: string): Reservation | undefined
  leave(thread: string): void
}

export function createPlaces(meter: Pick<Meter, 'reserve' | 'release'>): Places {
  const places = new Map<string, Reservation>()
  return {
    of: thread => places.get(thread),
    take(thread, place) {
      // A transaction that is tried again reserves again, in place of its first reservation.
      const before = places.get(thread)
      if (before) meter.release(before)
      places.set(thread, place)
      meter.reserve(place)
    },
    leave(thread) {
      const place = places.get(thread)
      places.delete(thread)
      if (place) meter.release(place)
    },
  }
}

export interface Beginner {
  agent: RuntimeAgent
  thread: string
  day: string
  items: readonly InboxItem[]
  /** The window with the batch. */
  window: readonly HistoryEntry[]
  anchor: Anchor | undefined
}

/**
 * Reserves the budget of a cycle's first call within the transaction that begins the cycle. Throws
 * LimitReached if a day is used up, so that the transaction is undone and everything waits in the inbox;
 * RoomTaken if that may change.
 */
export async function takePlace(deps: RuntimeDeps, tx: Tx, beginner: Beginner): Promise<void> {
  const { agent, thread, day, items, window, anchor } = beginner
  const wakes = userMessages(items).length === 0 ? 1 : 0
  const { wakesPerDay } = agent.limits
  if (wakes > 0) {
    const woken = deps.meter.spent(day, agent.name).wakes + deps.meter.reserved(day, agent.name).wakes
    if (wakesPerDay !== undefined && woken >= wakesPerDay) throw toWakesReached(deps, agent, woken)
    await addUsage(tx, { day, agent: agent.name, tokens: 0, cost_micros: 0, wakes })
  }
  const { name, maxOutput, ...model } = deps.model(agent.model)
  const price = deps.budget().dearest ?? model.price
  const input = deps.tokens.count(name, toPreamble(deps, { agent, thread }), window, anchor)
  const bounds = dayBounds(deps, agent, day)
  const call = { input, maxOutput, price }
  const room = decideRoom(bounds, fitted(deps, agent, call, decideRoom(bounds, call)))
  if (room.kind === 'full') throw toLimitReached(deps, agent, room.bound, call)
  if (room.kind === 'wait') throw new RoomTaken('Others use what is left of the day')
  const usage = { input, output: room.maxOutput, cachedInput: 0 }
  const micros = toMicros(usage, price)
  deps.places.take(thread, { day, agent: agent.name, tokens: input + room.maxOutput, micros, wakes })
}

/** Returns the call, with a shorter input if its window fits no day at all: its cycle shortens the window. */
function fitted(deps: RuntimeDeps, agent: RuntimeAgent, call: PlannedCall, room: Room): PlannedCall {
  const shorter = room.kind === 'full' ? toLimitReached(deps, agent, room.bound, call).room : undefined
  return shorter !== undefined && mayShrinkTo(deps, agent, shorter) ? { ...call, input: shorter } : call
}

/** Counts the wake of a cycle that has begun. */
export function countWake(deps: RuntimeDeps, thread: string): void {
  const place = deps.places.of(thread)
  if (!place || place.wakes === 0) return
  deps.meter.spend({ day: place.day, agent: place.agent, tokens: 0, cost_micros: 0, wakes: place.wakes })
  place.wakes = 0
}

/**
 * Defers what waits for the thread until the next day. People who wrote are told once in each conversation
 * and day; if nobody wrote, the agent's first conversation is told.
 */
export async function holdBack(
  deps: RuntimeDeps,
  agent: RuntimeAgent,
  thread: string,
  limit: LimitReached,
): Promise<void> {
  const { messages, held } = await deps.store.write(async tx => {
    await holdThread(tx, thread, Number(limit.until))
    const waiting = userMessages(await waitingItems(tx, thread))
    return { messages: await tellHeld(deps, tx, { agent, limit, waiting }), held: waiting }
  })
  announceHeld(deps, { agent, thread, limit, messages, held })
  if (thread === mainThreadId(agent.name)) deps.signals.emit('agent', { name: agent.name, status: 'waiting' })
}

type Waiting = readonly { conversation: string; messageId: string }[]

/** Tells the conversations that wait, and `places`, once a day each. Call `announceHeld` after the commit. */
export async function tellHeld(
  deps: RuntimeDeps,
  tx: Tx,
  held: {
    agent: RuntimeAgent
    limit: LimitReached
    waiting: Waiting
    places?: Iterable<string>
    cycle?: string
  },
): Promise<ChatMessage[]> {
  const { agent, limit, waiting, cycle } = held
  const told: ChatMessage[] = []
  for (const conversation of placesToTell(agent, waiting, held.places)) {
    if (await hasNoticeOfDay(tx, conversation, limit.data)) continue
    const inReplyTo = waiting.filter(each => each.conversation === conversation).map(each => each.messageId)
    told.push(
      await appendMessage(tx, {
        id: deps.newId('msg'),
        conversation,
        kind: 'notice',
        author: agent.name,
        text: limit.message,
        at: deps.clock.now(),
        data: limit.data,
        ...(cycle === undefined ? {} : { cycle }),
        ...(inReplyTo.length > 0 ? { inReplyTo } : {}),
      }),
    )
  }
  return told
}

export function announceHeld(
  deps: RuntimeDeps,
  done: {
    agent: RuntimeAgent
    thread: string
    limit: LimitReached
    messages: readonly ChatMessage[]
    held: Waiting
  },
): void {
  const { agent, thread, limit, messages, held } = done
  deps.log.warn('held_by_limit', { thread, ...limit.data })
  for (const message of messages) deps.signals.emit('message', message)
  deps.signals.emit('held', { messages: held.map(each => each.messageId), why: limit.message })
  deps.signals.emit('schedules', { agent: agent.name })
}

function placesToTell(agent: RuntimeAgent, waiting: Waiting, others: Iterable<string> = []): Set<string> {
  const places = new Set([...others, ...waiting.map(each => each.conversation)])
  return places.size > 0 ? places : new Set(agent.conversations.slice(0, 1))
}
