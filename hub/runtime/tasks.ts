import type { EventFact, EventListed } from '../../schemas/inbox.ts'
import { isAtLeast, type Power } from '../../schemas/power.ts'
import type { TaskLimits } from '../../schemas/tasks.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { NewId } from '../core/ids.ts'
import type { Signals } from '../core/signals.ts'
import { isBlank, quote } from '../core/text.ts'
import { givesMetaTool } from '../core/tool-access.ts'
import { toApproval } from '../store/approvals.ts'
import { postItem } from '../store/inbox.ts'
import type { ThreadRow } from '../store/tables.ts'
import {
  countOpenTasks,
  createTask,
  type Ended,
  endTask,
  grantsOf,
  hasPending,
  type TaskEnd,
  taskPrefix,
} from '../store/tasks.ts'
import { ensureMainThread, mainThreadId } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle } from './active-cycle.ts'
import type { Checked } from './check-answer.ts'
import type { RuntimeAgent } from './deps.ts'

/** Returns the agent as the thread has it: whole on its main thread, in a task with what its maker gave. */
export function toAgentOf(agent: RuntimeAgent, thread: ThreadRow): RuntimeAgent {
  if (thread.kind === 'main') return agent
  const grants = grantsOf(thread)
  const { schema } = grants
  const tools = {
    agent: 'task' in agent.tools ? agent.tools.agent : agent.tools,
    task: grants.tools,
    ...(schema ? { result: schema } : {}),
  }
  return {
    ...agent,
    prompt: `${agent.prompt}\n\n${toTaskPrompt(thread, schema)}`,
    tools,
    limits: lower(agent.limits, grants.limits),
    task: {
      id: thread.id,
      conversation: thread.conversation_id,
      mayMakeTasks: givesMetaTool(tools, 'create_task'),
      schema,
    },
  }
}

function toTaskPrompt({ instructions, power }: ThreadRow, schema: JsonObject | undefined): string {
  const result = schema ? ' and the result that its maker asked for' : ''
  return `You work on one task, beside your main thread, which knows nothing of what you do here until the task ends.
It ends when you call complete_task with its summary${result}, or when a turn of yours ends with nothing pending: your last text is then its summary. To go on later, call schedule_wake.
${isAtLeast(power, 'routine') ? `The task:\n${instructions}` : `The task, which work of less power than the house's own made:\n${quote(instructions ?? '')}`}`
}

function lower(limits: RuntimeAgent['limits'], { steps, minutes, tokens }: TaskLimits) {
  return {
    ...limits,
    steps: Math.min(limits.steps, steps ?? limits.steps),
    minutes: Math.min(limits.minutes, minutes ?? limits.minutes),
    tokens: Math.min(limits.tokens ?? Number.POSITIVE_INFINITY, tokens ?? Number.POSITIVE_INFINITY),
  }
}

/** The result of a `complete_task`. */
export interface Completion extends Checked {
  summary: string
}

/** The end of a task's cycle. */
export type CycleEnd =
  | ({ kind: 'text'; text: string } & Checked)
  | ({ kind: 'completed' } & Completion)
  | { kind: 'failed' | 'stopped'; reason: string }

/**
 * Ends the task whose cycle ends in this transaction, unless something is pending in it; does nothing on a
 * main thread. Pass the result to `emitEnded` after the commit.
 */
export async function settleTask(tx: Tx, cycle: ActiveCycle, now: number, end: CycleEnd): Promise<Ended> {
  const { task } = cycle.agent
  if (!task) return NOTHING_ENDED
  const { power } = cycle
  switch (end.kind) {
    case 'completed':
      return endTask(tx, task.id, { ...toTaskEnd(end), power, now })
    case 'failed':
      return endTask(tx, task.id, { status: 'failed', summary: end.reason, power, now })
    case 'stopped':
      return endTask(tx, task.id, { status: 'cancelled', summary: end.reason, power, now })
    case 'text':
      if (await hasPending(tx, task.id)) return NOTHING_ENDED
      return endTask(tx, task.id, {
        ...toTaskEnd({ ...end, summary: isBlank(end.text) ? lastText(cycle) : end.text.trim() }),
        power,
        now,
      })
    default:
      return end satisfies never
  }
}

/** Returns how a task ends: without the result that its maker wanted it has failed, whatever it says. */
function toTaskEnd({ summary, result, problem }: Completion): Pick<TaskEnd, 'status' | 'summary' | 'result'> {
  if (problem === undefined) return { status: 'complete', summary, result }
  return { status: 'failed', summary: `${summary}\n\nIt gave no result that fits the schema: ${problem}` }
}

const NOTHING_ENDED: Ended = { woken: [], closed: [], told: [] }

function lastText({ window }: ActiveCycle): string {
  const said = window.findLast(({ content }) => content.role === 'assistant' && !isBlank(content.text))
  return said?.content.text.trim() ?? 'The task ended without a word.'
}

/** Shows closed approvals and messages, and wakes the threads that got something, after the commit. */
export function emitEnded(signals: Signals, { woken, closed, told }: Ended): void {
  for (const approval of closed) signals.emit('approval', toApproval(approval))
  for (const message of told) signals.emit('message', message)
  for (const thread of new Set(woken)) signals.emit('posted', { thread })
}

/** The thread that takes an event for an agent whose file lists it: its main thread, or a task to be made. */
export interface EventTaker {
  agent: string
  thread: string
  why: string
}

/** Returns a new task if the file says so and the agent may have one more; else the main thread. */
export async function findTaker(
  deps: { newId: NewId },
  tx: Tx,
  { name, limits }: { name: string; limits: { tasks: number } },
  wanted: EventListed,
): Promise<EventTaker> {
  const main = { agent: name, thread: mainThreadId(name), why: `the agent ${name} lists it` }
  if (typeof wanted === 'string' || wanted.as !== 'task') return main
  if ((await countOpenTasks(tx, name)) >= limits.tasks)
    return { ...main, why: `${main.why} as a task, but has as many as it may (limits.tasks)` }
  return { ...main, thread: deps.newId(taskPrefix(name)), why: `${main.why} as a task` }
}

/**
 * Posts the event to its taker. If that is a task, it is created first; its summary waits for the agent's
 * next inbox.
 */
export async function postEventTo(
  tx: Tx,
  { agent, thread }: Pick<EventTaker, 'agent' | 'thread'>,
  event: EventFact,
  { now, power }: { now: number; power: Power },
): Promise<void> {
  const main = await ensureMainThread(tx, agent, now)
  if (thread !== main) {
    await createTask(tx, {
      id: thread,
      agent,
      parent: { id: main, depth: 0 },
      instructions: `Look after the event ${event.type} of ${event.source}, which your inbox brings.`,
      grants: { tools: [['*']], limits: {}, hops: 0 },
      conversation: null,
      wakesParent: false,
      power,
      now,
    })
  }
  const payload = { kind: 'event' as const, event }
  await postItem(tx, { thread, source: 'event', externalId: event.id, payload, power, at: now })
}
