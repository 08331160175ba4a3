import { z } from 'zod'
import { taskLimits } from '../../schemas/tasks.ts'
import { answerSchema } from '../core/answer-schema.ts'
import { HubError } from '../core/errors.ts'
import { plural } from '../core/text.ts'
import type { CallContext } from '../core/tool-box.ts'
import { postItem } from '../store/inbox.ts'
import { countOpenTasks, createTask, grantsOf, taskPrefix } from '../store/tasks.ts'
import { readThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { hopsTo } from './hops.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'

/** The depth of tasks: those of the main thread, their tasks, and the tasks of those. */
const DEEPEST = 3

const input = z.strictObject({
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
})

export function createTaskTool(deps: MetaDeps): MetaTool {
  return defineMetaTool({
    name: 'create_task',
    title: 'Start a task',
    description:
      'Hands work to a task: a thread of its own that works beside you, with your tools and memory but a fresh history. You are woken with its summary when it ends. Use it for what takes long or needs many steps.',
    input,
    async run(tx, args, context) {
      const id = await create(deps, tx, args, context)
      context.afterCommit(() => deps.signals.emit('posted', { thread: id }))
      return {
        text: `Started the task ${id}. You are woken with its summary when it ends.`,
        isError: false,
        structured: { thread: id },
      }
    },
  })
}

async function create(
  deps: MetaDeps,
  tx: Tx,
  { instructions, tools = ['*'], limits = {}, schema }: z.output<typeof input>,
  context: CallContext,
): Promise<string> {
  const { agent, now } = context
  const parent = await readThread(tx, context.thread)
  if (!parent) throw new HubError('not_found', `There is no thread ${context.thread}`)
  await checkRoom(deps, tx, agent, parent.depth)
  const id = deps.newId(taskPrefix(agent))
  const above = grantsOf(parent)
  await createTask(tx, {
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
    now,
  })
  const payload = { kind: 'notice' as const, text: 'Begin with your task.' }
  await postItem(tx, { thread: id, source: 'task', externalId: `${id}:begin`, payload, at: now })
  return id
}

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
