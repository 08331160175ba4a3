import { type Kysely, sql } from 'kysely'
import { inboxPayload } from '../../schemas/inbox.ts'
import type { Tables, Unanswered } from './tables.ts'
import type { Tx } from './writer.ts'

/*
 * A person's message is answered once its own conversation has an agent message from a step that saw it: a
 * step of a cycle that took it, or of a later cycle, whose window or summary still holds it.
 */

export interface UnansweredMessage {
  /** The cycle that took it. */
  cycle: string
  conversation: string
  text: string
  /** Whether the model kept silent when the message's turn came. */
  wasAsked: boolean
}

/**
 * Returns people's messages that the thread's cycles took and nobody answered, oldest first. Messages of dead
 * letters do not count.
 */
export async function unansweredOf(db: Kysely<Tables>, thread: string): Promise<UnansweredMessage[]> {
  const rows = await db
    .selectFrom('inbox')
    .innerJoin('cycles', 'cycles.id', 'inbox.cycle_id')
    .select(['cycle_id', 'payload_json', 'unanswered'])
    .where('inbox.thread_id', '=', thread)
    .where('unanswered', 'is not', null)
    .where('cycles.status', '!=', 'dead')
    .orderBy('inbox.seq')
    .execute()
  return rows.flatMap(row => {
    const payload = inboxPayload.parse(JSON.parse(row.payload_json))
    if (payload.kind !== 'message' || row.cycle_id === null) return []
    const { conversation, text } = payload
    return [{ cycle: row.cycle_id, conversation, text, wasAsked: row.unanswered === 'asked' }]
  })
}

/** Marks the conversation's messages that the thread's cycles took as answered: the agent wrote into it. */
export async function answerMessages(tx: Tx, thread: string, conversation: string): Promise<void> {
  await sql`
    update inbox set unanswered = null
    where thread_id = ${thread} and unanswered is not null and conversation_id = ${conversation}
      and cycle_id is not null
      and not exists (select 1 from cycles where id = inbox.cycle_id and status = 'dead')`.execute(tx)
}

/** Records that the conversation's turn in the cycle came. */
export async function markAsked(tx: Tx, cycle: string, conversation: string): Promise<void> {
  await tx
    .updateTable('inbox')
    .set({ unanswered: 'asked' })
    .where('cycle_id', '=', cycle)
    .where('conversation_id', '=', conversation)
    .where('unanswered', 'is not', null)
    .execute()
}

/** Clears what is unanswered: a person stopped the cycle, so nobody waits for an answer any more. */
export async function dropUnanswered(tx: Tx, scope: { cycle: string } | { thread: string }): Promise<void> {
  await tx
    .updateTable('inbox')
    .set({ unanswered: null })
    .where('cycle' in scope ? 'cycle_id' : 'thread_id', '=', 'cycle' in scope ? scope.cycle : scope.thread)
    .where('unanswered', 'is not', null)
    .where('cycle_id', 'is not', null)
    .execute()
}

/**
 * Puts messages back into the inbox, each once, if a limit stopped the cycle before their turn came. Messages
 * of the conversation `except`, which had its turn, stay. Returns whether any went back.
 */
export async function giveBackMessages(tx: Tx, cycle: string, except: string | null): Promise<boolean> {
  const back: Unanswered = 'again'
  const { numUpdatedRows } = await tx
    .updateTable('inbox')
    .set({ unanswered: back, cycle_id: null })
    .where('cycle_id', '=', cycle)
    .where('unanswered', '=', 'new')
    .$if(except !== null, query => query.where('conversation_id', '!=', except))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
