import { NOTE_SOURCE } from './dead-letters.ts'
import type { Tx } from './writer.ts'

interface RetriedCall {
  thread: string
  cycle: string
  tool: string
  hash: string
}

/**
 * Tells whether the same call had succeeded in a dead letter that the cycle retries. A cycle is a retry if it
 * took the retry's note, or the end of an approval for which a retry asked. A note that still waits counts
 * already.
 */
export async function hadSucceeded(tx: Tx, call: RetriedCall): Promise<boolean> {
  const before = await tx
    .withRecursive('retry(cycle_id)', query =>
      query
        .selectNoFrom(eb => eb.val(call.cycle).as('cycle_id'))
        .union(
          query
            .selectFrom('retry')
            .innerJoin('inbox', 'inbox.cycle_id', 'retry.cycle_id')
            .innerJoin('approvals', 'approvals.id', 'inbox.external_id')
            .where('inbox.source', '=', 'approval')
            .select('approvals.cycle_id'),
        ),
    )
    .selectFrom('inbox as note')
    .innerJoin('dead_letters', 'dead_letters.id', 'note.external_id')
    .innerJoin('tool_calls', 'tool_calls.cycle_id', 'dead_letters.cycle_id')
    .select('tool_calls.id')
    .where('note.source', '=', NOTE_SOURCE)
    .where('note.thread_id', '=', call.thread)
    .where(({ eb, or, selectFrom }) =>
      or([
        eb('note.cycle_id', 'is', null),
        eb('note.cycle_id', 'in', selectFrom('retry').select('retry.cycle_id')),
      ]),
    )
    .where('tool_calls.tool', '=', call.tool)
    .where('tool_calls.arguments_hash', '=', call.hash)
    .where('tool_calls.status', '=', 'ok')
    .limit(1)
    .executeTakeFirst()
  return before !== undefined
}
