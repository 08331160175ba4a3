import type { Tx } from './writer.ts'

/** One pending thing of each kind that a batch tells, null for none: most threads have few kinds. */
export interface Pending {
  schedule: string | null
  approval: string | null
  task: string | null
  fact: string | null
}

const NOTHING: Pending = { schedule: null, approval: null, task: null, fact: null }

/** Reads all kinds in one statement in place of one for each. */
export async function pendingOf(tx: Tx, agent: string, thread: string): Promise<Pending> {
  const row = await tx
    .selectNoFrom(eb => [
      eb
        .selectFrom('schedules')
        .select('id')
        .where('thread_id', '=', thread)
        .where('status', '=', 'active')
        .limit(1)
        .as('schedule'),
      eb
        .selectFrom('approvals')
        .select('id')
        .where('thread_id', '=', thread)
        .where('status', '=', 'open')
        .limit(1)
        .as('approval'),
      eb.selectFrom('threads').select('id').where('parent_id', '=', thread).limit(1).as('task'),
      eb
        .selectFrom('context')
        .select('key')
        .where(inner =>
          inner.or([
            inner.and([inner('scope', '=', 'agent'), inner('owner', '=', agent)]),
            inner.and([inner('scope', '=', 'thread'), inner('owner', '=', thread)]),
          ]),
        )
        .limit(1)
        .as('fact'),
    ])
    .executeTakeFirst()
  return row ?? NOTHING
}
