import { type InboxItem, nextItems, takeItems } from '../../hub/store/inbox.ts'
import type { Tx } from '../../hub/store/writer.ts'

/** Takes the thread's waiting items into the cycle, in the order of arrival. */
export async function drainItems(tx: Tx, thread: string, cycle: string): Promise<InboxItem[]> {
  const items = await nextItems(tx, thread)
  await takeItems(tx, cycle, items)
  return items.sort((a, b) => a.seq - b.seq)
}
