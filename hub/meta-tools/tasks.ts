import { z } from 'zod'
import { isAtLeast } from '../../schemas/power.ts'
import { taskLimits } from '../../schemas/tasks.ts'
import { answerSchema } from '../core/answer-schema.ts'
import { HubError } from '../core/errors.ts'
import { plural, toLine, truncate } from '../core/text.ts'
import type { CallContext } from '../core/tool-box.ts'
import { toApproval } from '../store/approvals.ts'
import { postItem } from '../store/inbox.ts'
import type { ThreadRow } from '../store/tables.ts'
import {
  countOpenTasks,
  endTask,
  grantsOf,
  createTask as storeTask,
  taskPrefix,
  listTasks as tasksOf,
} from '../store/tasks.ts'
import { mainThreadId, readThread, taskResultOf } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { hopsTo } from './hops.ts'
import { defineMetaTool, done, type MetaDeps, refused } from './meta-tool.ts'

/** The depth of tasks: those of the main thread, their tasks, and the tasks of those. */
const DEEPEST = 3
const MOST_LISTED = 30

export const createTask = defineMetaTool({
  name: 'create_task',
  title: 'Start a task',
  description:
    'Hands work to a task: a thread of its own that works beside you, with your tools and memory but a fresh history. You are woken with its summary when it ends. Use it for what takes long or needs many steps.',
  input: z.strictObject({
    instructions: z
      .string()
      .trim()
      .min(1)
      .max(8_000)
      .describe('all that it needs to know; it does not see this talk'),
    tools: z
      .array(z.string().min(1).max(100))
      .max(50)
      .optional()
      .describe(
        'globs over your tools, default ["*"]; name create_task, schedule_cron, send_message or store_context (your memory) to give those too',
      ),
    limits: taskLimits.optional().describe('below your own'),
    schema: answerSchema
      .optional()
      .describe('a JSON schema of type object: its result comes as JSON that fits it'),
  }),
  async run(tx, { instructions, tools = ['*'], limits = {}, schema }, context, deps) {
    const { agent, now } = context
    const parent = await readThread(tx, context.thread)
    if (!parent) throw new HubError('not_found', `There is no thread ${context.thread}`)
    await checkRoom(deps, tx, agent, parent.depth)
    const id = deps.newId(taskPrefix(agent))
    const above = grantsOf(parent)
    await storeTask(tx, {
      id,
      agent,
      parent,
      instructions,
      grants: {
        tools: [...above.tools, tools],
        limits: { ...above.limits, ...lowest(above.limits, limits) },
        hops: await hopsTo(tx, context),
        schema,
      },
      conversation: context.conversation ?? parent.conversation_id,
      wakesParent: true,
      power: context.power,
      now,
    })
    const payload = { kind: 'notice' as const, text: 'Begin with your task.' }
    const { power, hasReadForeign } = context
    const externalId = `${id}:begin`
    await postItem(tx, { thread: id, source: 'task', externalId, payload, power, hasReadForeign, at: now })
    context.afterCommit(() => deps.signals.emit('posted', { thread: id }))
    return done(`Started the task ${id}. You are woken with its summary when it ends.`, { thread: id })
  },
})

async function checkRoom(deps: MetaDeps, tx: Tx, agent: string, depth: number): Promise<void> {
  if (depth >= DEEPEST) {
    throw new HubError('forbidden', `Tasks go ${DEEPEST} deep and no deeper: do this work yourself.`)
  }
  const most = deps.agent(agent)?.limits.tasks ?? 0
  if ((await countOpenTasks(tx, agent)) < most) return
  const why = `${plural(most, 'task')} at once is the limit (limits.tasks in agents/${agent}.md).`
  throw new HubError('rate_limited', `${why} Wait until one ends, or cancel one: list_tasks shows them.`)
}

type Limits = z.output<typeof taskLimits>

/** Returns the limits that are asked for, none of them above the maker's own. */
function lowest(above: Limits, asked: Limits): Limits {
  const entries = Object.entries(asked).map(([key, value]) => [
    key,
    Math.min(value ?? Number.POSITIVE_INFINITY, above[key as keyof Limits] ?? Number.POSITIVE_INFINITY),
  ])
  return Object.fromEntries(entries) as Limits
}

export const listTasks = defineMetaTool({
  name: 'list_tasks',
  title: 'My tasks',
  description: 'Lists your tasks with their ids and states: those that run first, then those that ended.',
  input: z.strictObject({}),
  readOnly: true,
  async run(tx, _args, { agent, thread }) {
    const parent = thread === mainThreadId(agent) ? undefined : thread
    const rows = await tasksOf(tx, { agent, parent, limit: MOST_LISTED })
    return done(rows.map(describe).join('\n') || 'No tasks.', { tasks: rows.map(toView) }, rows.length > 0)
  },
})

function toView(row: ThreadRow) {
  const { id, status, instructions, summary, created_at: createdAt, ended_at: endedAt } = row
  return { id, status, instructions, summary, result: taskResultOf(row), createdAt, endedAt }
}

function describe({ id, status, instructions, summary, result_json }: ThreadRow): string {
  const end = summary === null ? '' : `\n  ${truncate(toLine(summary), 300)}`
  const result = result_json === null ? '' : `\n  Result: ${truncate(toLine(result_json), 300)}`
  return `${id} (${status}): ${truncate(toLine(instructions ?? ''), 200)}${end}${result}`
}

export const cancelTask = defineMetaTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description:
    'Ends one of your tasks by its id (list_tasks shows them): its schedules and its own tasks are cancelled, and what it does now stops at the next step.',
  input: z.strictObject({ id: z.string().min(1).max(200) }),
  async run(tx, { id }, context, { signals }) {
    const row = await readThread(tx, id)
    if (!row || !isOwn(row, context))
      return refused(`There is no task ${id} of yours; list_tasks shows them.`)
    if (row.ended_at !== null) return refused(`The task ${id} has ended: ${row.status}.`)
    if (!isAtLeast(context.power, row.power))
      return refused(`The task ${id} was made with more power than this work has: a person can cancel it.`)
    const { now, thread, agent } = context
    const summary = 'Cancelled before it was done.'
    const { woken, closed, told } = await endTask(tx, id, { status: 'cancelled', summary, now, by: thread })
    context.afterCommit(() => {
      for (const approval of closed) signals.emit('approval', toApproval(approval))
      for (const message of told) signals.emit('message', message)
      for (const each of woken) signals.emit('posted', { thread: each })
      signals.emit('schedules', { agent })
    })
    return done(`Cancelled the task ${id}.`, { id, status: 'cancelled' })
  },
})

/** Tells whether a thread may end a task: the main thread all of its agent, a task those that it made. */
function isOwn(row: ThreadRow, { agent, thread }: CallContext): boolean {
  if (row.kind !== 'task' || row.agent !== agent) return false
  return thread === mainThreadId(agent) || row.parent_id === thread
}
