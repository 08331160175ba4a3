import { type Kysely, sql } from 'kysely'
import type { ChatMessage } from '../../schemas/chat.ts'
import { lowest, type Power } from '../../schemas/power.ts'
import { type TaskGrants, taskGrants } from '../../schemas/tasks.ts'
import { HUB } from '../../schemas/tokens.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { truncate } from '../core/text.ts'
import { recordDecisions } from './approvals.ts'
import { appendMessage } from './conversations.ts'
import { runningCycle } from './cycles.ts'
import { settleEventsOf } from './events.ts'
import { postItem, QUIET_SOURCE } from './inbox.ts'
import { finishCall } from './ledger.ts'
import { closeTaskHistory } from './sessions.ts'
import type { ApprovalRow, Tables, ThreadRow } from './tables.ts'
import { mainThreadId } from './threads.ts'
import type { Tx } from './writer.ts'

export interface NewTask {
  id: string
  agent: string
  parent: { id: string; depth: number }
  instructions: string
  grants: TaskGrants
  /** Conversation in which its summary is answered. */
  conversation: string | null
  /** Whether its summary wakes the parent; otherwise it waits for the parent's next inbox. */
  wakesParent: boolean
  /** Power of its maker. */
  power: Power
  now: number
}

/** Returns the beginning of a task's id; it names the agent, so that no look-up is needed to know it. */
export function taskPrefix(agent: string): string {
  return `${mainThreadId(agent)}.task`
}

export async function createTask(tx: Tx, task: NewTask): Promise<void> {
  await tx
    .insertInto('threads')
    .values({
      id: task.id,
      agent: task.agent,
      kind: 'task',
      status: 'sleeping',
      window_start: 1,
      last_seq: 0,
      fence: 0,
      created_at: task.now,
      updated_at: task.now,
      parent_id: task.parent.id,
      depth: task.parent.depth + 1,
      wakes_parent: task.wakesParent ? 1 : 0,
      power: task.power,
      instructions: task.instructions,
      grants_json: JSON.stringify(task.grants),
      conversation_id: task.conversation,
    })
    .execute()
}

/** Returns what a thread was given; nothing for a main thread. */
export function grantsOf(thread: Pick<ThreadRow, 'grants_json'>): TaskGrants {
  return taskGrants.parse(JSON.parse(thread.grants_json ?? '{}'))
}

/** Counts the tasks of an agent that have not ended. */
export async function countOpenTasks(db: Kysely<Tables>, agent: string): Promise<number> {
  const row = await db
    .selectFrom('threads')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('agent', '=', agent)
    .where('kind', '=', 'task')
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/**
 * Lists the tasks of an agent, or those that one thread made, the newest first; ended ones come last, until
 * they are archived.
 */
export function listTasks(
  db: Kysely<Tables>,
  of: { agent: string; parent?: string | undefined; limit: number },
): Promise<ThreadRow[]> {
  return db
    .selectFrom('threads')
    .selectAll()
    .where('agent', '=', of.agent)
    .where('kind', '=', 'task')
    .where('archived_at', 'is', null)
    .$if(of.parent !== undefined, query => query.where('parent_id', '=', of.parent ?? ''))
    .orderBy(sql`ended_at is not null`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(of.limit)
    .execute()
}

export type RunningTask = Pick<ThreadRow, 'id' | 'instructions' | 'power' | 'created_at'>

/** Returns the tasks of a thread that have not ended, the oldest first. */
export function runningTasksOf(db: Kysely<Tables>, thread: string): Promise<RunningTask[]> {
  return db
    .selectFrom('threads')
    .select(['id', 'instructions', 'power', 'created_at'])
    .where('parent_id', '=', thread)
    .where('status', 'in', ['sleeping', 'active', 'waiting'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/**
 * Tells whether something will still happen in the thread: a schedule, an approval, a task of its own, a
 * filled inbox.
 */
export async function hasPending(tx: Tx, thread: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from schedules where thread_id = ${thread} and status in ('active', 'held')
    union all select 1 from approvals where thread_id = ${thread} and answered_at is null
    union all select 1 from threads where parent_id = ${thread} and ended_at is null
    union all select 1 from inbox where thread_id = ${thread} and cycle_id is null
    limit 1`.execute(tx)
  return rows.length > 0
}

/** The outcome of ending a task and its own tasks. */
export interface Ended {
  /** Threads to wake. */
  woken: string[]
  /** Approvals that nobody has to decide any more. */
  closed: ApprovalRow[]
  /** Messages that tell the approvals' conversations of it. */
  told: ChatMessage[]
}

export interface TaskEnd {
  status: 'complete' | 'failed' | 'cancelled'
  summary: string
  now: number
  /** Result that fits the schema of its maker. */
  result?: JsonObject | undefined
  /** Power of the cycle that ended it, where one did. */
  power?: Power
  /** Thread that ended it, which is not notified. */
  by?: string
}

/**
 * Ends a task and what it waits for, its own tasks included, and notifies its parent, all in this
 * transaction; a task that has ended stays as it is. The caller publishes what it returns after the commit.
 */
export async function endTask(tx: Tx, id: string, end: TaskEnd): Promise<Ended> {
  const row = await tx
    .updateTable('threads')
    .set({
      status: end.status,
      summary: end.summary,
      result_json: end.result === undefined ? null : JSON.stringify(end.result),
      ended_at: end.now,
      updated_at: end.now,
      not_before: null,
    })
    .where('id', '=', id)
    .where('kind', '=', 'task')
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (!row) return { woken: [], closed: [], told: [] }
  const { closed, told } = await closeWaits(tx, id, end.now)
  const woken: string[] = []
  // A cycle that nobody runs now, such as one that waits for its provider, is woken to stop.
  if (await runningCycle(tx, id)) woken.push(id)
  else await closeTaskHistory(tx, id, end.now)
  for (const child of await runningTasksOf(tx, id)) {
    const summary = 'Cancelled, since the task that made it has ended.'
    const own = await endTask(tx, child.id, { status: 'cancelled', summary, now: end.now, by: id })
    woken.push(...own.woken)
    closed.push(...own.closed)
    told.push(...own.told)
  }
  if (await notifyParent(tx, row, end)) woken.push(row.parent_id ?? '')
  return { woken, closed, told }
}

/** Posts the end to the parent's inbox; returns whether the parent is to be woken. */
async function notifyParent(tx: Tx, task: ThreadRow, end: TaskEnd): Promise<boolean> {
  if (task.parent_id === null || task.parent_id === end.by) return false
  const wakes = task.wakes_parent === 1
  await postItem(tx, {
    thread: task.parent_id,
    source: wakes ? 'task' : QUIET_SOURCE,
    externalId: `${task.id}@${end.now}`,
    payload: {
      kind: 'task',
      task: task.id,
      status: end.status,
      instructions: task.instructions ?? '',
      summary: end.summary,
      ...(end.result === undefined ? {} : { result: end.result }),
      hops: grantsOf(task).hops,
      ...(wakes ? {} : { quiet: true as const }),
    },
    power: lowest(task.power, end.power ?? task.power),
    conversation: task.conversation_id ?? undefined,
    at: end.now,
  })
  return wakes
}

/** Closes the schedules, approvals and inbox items of an ended task, so that nothing wakes it any more. */
async function closeWaits(tx: Tx, thread: string, now: number): Promise<Pick<Ended, 'closed' | 'told'>> {
  await tx
    .updateTable('schedules')
    .set({ status: 'cancelled' })
    .where('thread_id', '=', thread)
    .where('status', 'in', ['active', 'held'])
    .execute()
  const closed = await tx
    .updateTable('approvals')
    .set({
      status: 'denied',
      decided_at: now,
      decided_by: HUB,
      note: 'The task has ended.',
      answered_at: now,
    })
    .where('thread_id', '=', thread)
    .where('status', '=', 'open')
    .returningAll()
    .execute()
  await recordDecisions(tx, closed, now)
  const told: ChatMessage[] = []
  for (const approval of closed) {
    const text = `Approval ${approval.id} was closed, since the task has ended; it did not run.`
    await finishCall(tx, approval.call_id, { status: 'denied', result: { text, isError: true }, now })
    const message = await notifyClosed(tx, approval, { text, now })
    if (message) told.push(message)
  }
  await discardItems(tx, thread)
  return { closed, told }
}

/** Appends the line of the approval's call to the conversation in which it was asked for. */
async function notifyClosed(
  tx: Tx,
  { id, call_id: call, cycle_id: cycle, conversation_id: conversation, tool, arguments: args }: ApprovalRow,
  { text, now }: { text: string; now: number },
): Promise<ChatMessage | undefined> {
  if (conversation === null) return undefined
  return appendMessage(tx, {
    id: `msg_${id}_closed`,
    conversation,
    kind: 'tool',
    author: tool,
    text,
    at: now,
    data: { call, tool, status: 'denied', cycle, arguments: truncate(args, 300), approval: id },
  })
}

/** Takes the remaining items out of the inbox of an ended task: they are kept, and nobody reads them. */
export async function discardItems(tx: Tx, thread: string): Promise<void> {
  await tx
    .updateTable('inbox')
    .set({ cycle_id: thread })
    .where('thread_id', '=', thread)
    .where('cycle_id', 'is', null)
    .execute()
  await settleEventsOf(tx, thread)
}
