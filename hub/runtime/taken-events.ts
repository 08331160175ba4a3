import type { EventFact } from '../../schemas/inbox.ts'
import { takeEvents } from '../store/events.ts'
import type { InboxItem } from '../store/inbox.ts'
import type { Tx } from '../store/writer.ts'

/** Marks the items' events as taken by a cycle; returns the items with how often each was repeated. */
export async function takeEventsOf(tx: Tx, items: InboxItem[]): Promise<InboxItem[]> {
  const repeats = await takeEvents(tx, eventIds(items))
  return repeats.size === 0 ? items : items.map(item => withRepeats(item, repeats))
}

/** Returns the ids of the events among the items, including those that woke a schedule early. */
export function eventIds(items: readonly InboxItem[]): string[] {
  return items.flatMap(item => eventOf(item)?.id ?? [])
}

function eventOf({ payload }: InboxItem): EventFact | undefined {
  if (payload.kind === 'event') return payload.event
  return payload.kind === 'wake' ? payload.early : undefined
}

function withRepeats(item: InboxItem, all: ReadonlyMap<string, number>): InboxItem {
  const { payload } = item
  const repeats = all.get(eventOf(item)?.id ?? '') ?? 0
  if (repeats === 0) return item
  if (payload.kind === 'event')
    return { ...item, payload: { ...payload, event: { ...payload.event, repeats } } }
  if (payload.kind === 'wake' && payload.early)
    return { ...item, payload: { ...payload, early: { ...payload.early, repeats } } }
  return item
}
