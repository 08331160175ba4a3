import { z } from 'zod'
import { sharing } from './agent-file.ts'
import { toolCallStatuses } from './chat.ts'
import { eventWanted, missedPolicy } from './inbox.ts'
import { power, TOOL_CLASSES } from './power.ts'

/* These shapes are what the hub's own tools list. */

const time = z.number().describe('unix milliseconds')

const agentView = z.object({
  name: z.string(),
  description: z.string(),
  shared: sharing,
  status: z.enum(['sleeping', 'active', 'waiting', 'failed', 'retired']),
  conversations: z.array(z.string()),
  threads: z.int(),
  pending: z.int().describe('items in its inbox'),
  cycles: z.int(),
  lastCycleAt: z.number().nullable().describe('unix milliseconds'),
  tokensToday: z.int(),
  moneyToday: z.number().describe("in the prices' currency; 0 without prices"),
  windowTokens: z.int().describe('an estimate of what its main thread sees'),
})

export const agentList = z.object({ agents: z.array(agentView) })
export type AgentView = z.infer<typeof agentView>

export const threadStatuses = ['active', 'sleeping', 'waiting', 'complete', 'failed', 'cancelled'] as const

export const threadView = z.object({
  id: z.string(),
  agent: z.string(),
  kind: z.enum(['main', 'task']),
  status: z.enum(threadStatuses),
  createdAt: time,
  updatedAt: time,
  pending: z.int().describe('items in its inbox'),
  cycles: z.int(),
  parent: z.string().optional().describe('the thread that made this task'),
  depth: z.int(),
  instructions: z.string().optional(),
  summary: z.string().optional().describe('what the task told at its end'),
  result: z.record(z.string(), z.unknown()).optional().describe('what fits the schema that its maker gave'),
  conversation: z.string().optional().describe('where its summary is answered'),
  endedAt: time.optional(),
  archivedAt: time.optional(),
})
export type ThreadView = z.infer<typeof threadView>

const call = z.object({
  id: z.string(),
  tool: z.string(),
  arguments: z.string().describe('JSON, as the model wrote it'),
  status: z.enum(toolCallStatuses),
  result: z.string().optional(),
  startedAt: time.optional(),
  endedAt: time.optional(),
})

const step = z.object({
  step: z.int(),
  at: time,
  text: z.string(),
  calls: z.array(call),
})

export const auditCycle = z.object({
  id: z.string(),
  status: z.enum(['running', 'done', 'failed', 'stopped', 'dead']),
  startedAt: time,
  endedAt: time.optional(),
  replyTo: z.string().optional().describe('the conversation of its final text'),
  note: z.string().optional().describe('why it failed or was cut short'),
  model: z.string().optional(),
  attempts: z.int(),
  tokens: z.object({ input: z.int(), output: z.int(), cached: z.int() }),
  cost: z.number().describe("in the prices' currency; 0 without prices"),
  inbox: z.array(z.object({ at: time, text: z.string() })).describe('what it was told, in order'),
  steps: z.array(step),
})

const whyStep = z.object({
  step: z.int(),
  model: z.string().optional(),
  at: time.optional().describe('when it was asked; unix milliseconds'),
  ms: z.number().optional().describe('until it had answered, with all tries'),
  tokens: z.object({ input: z.int(), cached: z.int(), output: z.int() }).optional(),
  cost: z.number().optional(),
  currency: z.string().optional(),
  isPreambleSame: z.boolean().optional().describe('whether prompt and tools were those of now'),
  system: z.string().optional(),
  tools: z.array(z.string()).optional().describe('their names'),
  earlier: z.int().describe('messages of the request before those shown'),
  messages: z.array(z.record(z.string(), z.unknown())),
  answer: z.record(z.string(), z.unknown()),
})

/** What a cycle sent and got. */
export const cycleWhy = z.object({
  cycle: z.string(),
  thread: z.string(),
  agent: z.string(),
  status: z.string(),
  note: z.string().optional(),
  steps: z.array(whyStep),
})
export type ListedWhy = z.infer<typeof cycleWhy>

/** One call of an agent; `arguments` is JSON. */
export const wholeCall = z.object({
  tool: z.string(),
  arguments: z.string(),
  status: z.enum(toolCallStatuses),
  result: z.string().optional(),
})
export type WholeCall = z.infer<typeof wholeCall>

/** A thread's cycles, the oldest first. */
export const threadAudit = z.object({ thread: threadView, cycles: z.array(auditCycle) })
export type ThreadAudit = z.infer<typeof threadAudit>

export const schedule = z.object({
  id: z.string(),
  agent: z.string(),
  kind: z.enum(['once', 'cron']),
  cron: z.string().optional(),
  timezone: z.string(),
  reason: z.string(),
  nextRun: z.number().nullable().describe('unix milliseconds; null: only by an event'),
  lastRun: z.number().optional().describe('when it fired last; unix milliseconds'),
  wakeOnEvents: z.array(eventWanted),
  status: z.enum(['active', 'held', 'done', 'cancelled']),
  missed: missedPolicy.describe('what happens with what the hub slept through'),
  createdBy: z.string(),
  conversation: z.string().optional(),
})
export type Schedule = z.infer<typeof schedule>

export const deadLetter = z.object({
  id: z.string(),
  agent: z.string(),
  thread: z.string(),
  cycle: z.string(),
  status: z.enum(['open', 'retried', 'discarded']),
  reason: z.string(),
  error: z.object({ code: z.string(), status: z.int().optional(), message: z.string() }).optional(),
  retryable: z.boolean().describe('the same may succeed later without a change'),
  at: z.number().describe('unix milliseconds'),
  decidedAt: z.number().nullable(),
  decidedBy: z.string().nullable(),
  conversation: z.string().nullable(),
  steps: z.int(),
  items: z
    .array(z.object({ kind: z.string(), origin: z.string(), text: z.string(), at: z.number() }))
    .describe('what the cycle had taken from the inbox'),
  calls: z
    .array(z.object({ tool: z.string(), arguments: z.string(), status: z.string() }))
    .describe('tool calls that it had made'),
})
export const deadLetters = z.object({ deadLetters: z.array(deadLetter) })
export type ListedDeadLetter = z.infer<typeof deadLetter>

export const eventStatuses = ['pending', 'processing', 'handled', 'ignored', 'held'] as const

export const listedEvent = z.object({
  id: z.string(),
  source: z.string(),
  type: z.string(),
  key: z.string(),
  payload: z.record(z.string(), z.unknown()),
  status: z.enum(eventStatuses),
  routedTo: z.array(z.string()),
  note: z.string().optional().describe('why it went there'),
  repeats: z.int().describe('how many of the same were held behind it'),
  at: z.number().describe('unix milliseconds'),
})
export type ListedEvent = z.infer<typeof listedEvent>

/** The effective config. */
export const configInForce = z.object({
  file: z.string().describe('the config file, which may not exist'),
  values: z.array(
    z.object({
      key: z.string(),
      value: z.string().optional().describe('JSON; missing where it is not set'),
      origin: z.string().describe('a file, the name of a variable, or default'),
    }),
  ),
  problems: z.array(z.string()).describe('of the file as it is now'),
})
export type ConfigInForce = z.infer<typeof configInForce>

/** What the policy answers to a call. */
export const explainedTool = z.object({
  tool: z.string(),
  toolClass: z.enum(TOOL_CLASSES),
  kind: z.enum(['run', 'ask', 'refuse']),
  reason: z.string().describe('with until: why it would ask without the allowance'),
  until: time.optional().describe('end of the allowance by which it runs'),
})
export type ExplainedTool = z.infer<typeof explainedTool>

/** Calls that run without asking because a person said so beside a yes. */
export const allowance = z.object({
  id: z.string(),
  agent: z.string(),
  tool: z.string(),
  power,
  until: time,
  createdBy: z.string(),
  createdAt: z.number(),
})
export type Allowance = z.infer<typeof allowance>
