import { sql } from 'kysely'
import type { Tx } from './writer.ts'

/** The cycles that a stop means: those of the threads, and those whose reply goes to the conversation. */
export interface StopScope {
  threads: readonly string[]
  conversation?: string | undefined
}

export interface StoppedCycle {
  cycle: string
  thread: string
  replyTo: string | null
}

/**
 * Records that the running cycles of the scope are to stop, so that a crash does not forget it; the first
 * requester stays. A cycle that waits for its provider wakes to end.
 */
export async function requestStops(tx: Tx, scope: StopScope, by: string): Promise<StoppedCycle[]> {
  const { threads, conversation } = scope
  const stopped = await tx
    .updateTable('cycles')
    .set(eb => ({ stop_requested_by: eb.fn.coalesce('stop_requested_by', eb.val(by)) }))
    .where('status', '=', sql.lit('running'))
    .where(eb =>
      eb.or([
        ...(threads.length > 0 ? [eb('thread_id', 'in', threads)] : []),
        ...(conversation === undefined ? [] : [eb('reply_to', '=', conversation)]),
      ]),
    )
    .returning(['id as cycle', 'thread_id as thread', 'reply_to as replyTo'])
    .execute()
  const ids = stopped.map(({ thread }) => thread)
  if (ids.length > 0)
    await tx.updateTable('threads').set({ not_before: null }).where('id', 'in', ids).execute()
  return stopped
}
