import type { CallContext } from '../core/tool-box.ts'
import { type InboxItem, itemsOfCycle } from '../store/inbox.ts'
import { grantsOf } from '../store/tasks.ts'
import { mainThreadId, readThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'

/** Counts the messages between agents that led to the caller's cycle since a person last spoke in it. */
export async function hopsTo(tx: Tx, { agent, thread, cycle }: CallContext): Promise<number> {
  const row = thread === mainThreadId(agent) ? undefined : await readThread(tx, thread)
  const given = row ? grantsOf(row).hops : 0
  return Math.max(given, countHops(await itemsOfCycle(tx, cycle)))
}

function countHops(items: readonly InboxItem[]): number {
  if (items.some(({ payload }) => payload.kind === 'message')) return 0
  return items.reduce((most, { payload }) => {
    const hops = payload.kind === 'agent' || payload.kind === 'task' ? (payload.hops ?? 0) : 0
    return Math.max(most, hops)
  }, 0)
}
