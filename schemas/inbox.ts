import { z } from 'zod'
import { inboxFile } from './files.ts'
import { storedPicture } from './picture.ts'
import { type Power, power } from './power.ts'
import { traceContext } from './trace.ts'

/** An event's type, or a type with the values that its payload must hold (globs for texts). */
export const eventWanted = z.union([
  z.string().min(1).max(100),
  z.strictObject({
    type: z.string().min(1).max(100),
    match: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  }),
])
export type EventWanted = z.infer<typeof eventWanted>

/** An event that an agent's file lists: for its main thread, or as a task of its own. */
export const eventListed = z.union([
  z.string().min(1).max(100),
  z.strictObject({
    type: z.string().min(1).max(100),
    match: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
    as: z.literal('task').optional(),
  }),
])
export type EventListed = z.infer<typeof eventListed>

/** Rule for a schedule's occurrences that passed while the hub did not run. */
export const missedPolicy = z.enum(['latest', 'all', 'skip'])

export const eventFact = z.object({
  id: z.string(),
  type: z.string(),
  source: z.string(),
  payload: z.record(z.string(), z.unknown()),
  at: z.number(),
  /** Times that the same event was held back before an agent took this one. */
  repeats: z.int().optional(),
})
export type EventFact = z.infer<typeof eventFact>

/** An event to store; unique by its source and `externalId`. */
export interface NewEvent {
  source: string
  externalId: string
  type: string
  key?: string | undefined
  payload: Record<string, unknown>
  at: number
  /** Default `foreign`. */
  power?: Power | undefined
}

/** An event's route: the threads that it wakes. */
export interface RoutedEvent {
  id: string
  status: 'pending' | 'ignored' | 'held'
  routedTo: string[]
  /** Reason in words. */
  note: string
}

const jsonObject = z.record(z.string(), z.unknown())

/** The content of an inbox item, by what posted it. */
export const inboxPayload = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    conversation: z.string(),
    messageId: z.string(),
    author: z.string(),
    text: z.string(),
    /** IANA time zone of who wrote it, where that is known. */
    timezone: z.string().optional(),
    /**
     * Set where the message has pictures; they are stored in its conversation with the message of this seq.
     */
    pictures: z.object({ count: z.int().positive(), seq: z.int() }).optional(),
    files: z.array(inboxFile).optional(),
    /** JSON schema that the answer must fit. */
    schema: jsonObject.optional(),
    /** Trace that its cycle belongs to. */
    trace: traceContext.optional(),
  }),
  z.object({
    kind: z.literal('wake'),
    schedule: z.string(),
    reason: z.string(),
    dueAt: z.number(),
    /** IANA time zone of the schedule. */
    timezone: z.string().optional(),
    early: eventFact.optional(),
  }),
  z.object({ kind: z.literal('event'), event: eventFact }),
  z.object({ kind: z.literal('notice'), text: z.string() }),
  // The history starts fresh with the batch that holds this item.
  z.object({ kind: z.literal('reset'), by: z.string(), message: z.string().optional() }),
  // Another agent sent the message. `hops` counts the messages between agents since a person wrote.
  z.object({
    kind: z.literal('agent'),
    from: z.string(),
    thread: z.string(),
    text: z.string(),
    hops: z.int().nonnegative(),
  }),
  // The task ended.
  z.object({
    kind: z.literal('task'),
    task: z.string(),
    status: z.enum(['complete', 'failed', 'cancelled']),
    instructions: z.string(),
    summary: z.string(),
    /** Result that fits the schema of the task's maker. */
    result: jsonObject.optional(),
    hops: z.int().nonnegative().optional(),
    /** True where an event made the task, and nobody waits for it. */
    quiet: z.literal(true).optional(),
  }),
  // A person answered an approval. `result` is the call's outcome where it ran.
  z.object({
    kind: z.literal('approval'),
    approval: z.string(),
    tool: z.string(),
    arguments: z.string(),
    status: z.enum(['approved', 'denied', 'expired']),
    /** True where a server asked during the call: `status` is the question's, and the call ran. */
    question: z.literal(true).optional(),
    by: z.string().optional(),
    note: z.string().optional(),
    result: z.object({ status: z.enum(['ok', 'error', 'unknown']), text: z.string() }).optional(),
  }),
])
export type InboxPayload = z.infer<typeof inboxPayload>

const batchItem = z.object({
  kind: z.enum(['message', 'wake', 'event', 'agent', 'task', 'approval', 'notice']),
  origin: z.string(),
  text: z.string(),
  at: z.number(),
})

/** A fact that an agent stored, for itself or for one thread. */
export const storedFact = z.object({
  scope: z.enum(['agent', 'thread']),
  key: z.string(),
  value: z.string(),
  /** Power of the cycle that stored it; a person's or the house's own where it is left out. */
  power: power.optional(),
})
export type StoredFact = z.infer<typeof storedFact>

/** Content of a row of history, by its role. */
export const historyContent = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('user'),
    text: z.string(),
    items: z.array(batchItem),
    /** True where the row contains the whole stored context. */
    tellsContext: z.boolean().optional(),
    /** Stored facts of the row: all of them, or those that changed; an empty value marks a deleted one. */
    facts: z.array(storedFact).optional(),
    images: z.array(storedPicture).readonly().optional(),
  }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    calls: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        arguments: z.string(),
        /** True where the model wants a person's approval. */
        ask: z.literal(true).optional(),
      }),
    ),
    thinking: z
      .object({
        by: z.string(),
        text: z.string(),
        extras: z.array(z.unknown()).readonly().optional(),
        parts: z.unknown().optional(),
      })
      .optional(),
  }),
  z.object({
    role: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    text: z.string(),
    isError: z.boolean(),
    structured: z.unknown().optional(),
    images: z.array(storedPicture).readonly().optional(),
  }),
])
export type HistoryContent = z.infer<typeof historyContent>

/** What was sent for a step, and what it took; the history holds it beside the model's answer. */
export const stepRequest = z.object({
  model: z.string(),
  /** Unix milliseconds, and milliseconds with all tries. */
  at: z.number(),
  ms: z.number(),
  input: z.int(),
  output: z.int(),
  cachedInput: z.int(),
  costMicros: z.int(),
  currency: z.string().optional(),
  /** First and last seq of the window; what stands for everything before it comes before that. */
  from: z.int(),
  to: z.int(),
  /** Seqs of rows of which the window showed a stub, or the beginning and the end. */
  stubs: z.array(z.int()),
  cuts: z.array(z.int()),
  /** SHA-256 of prompt and tools, in hex. */
  preamble: z.string(),
})
export type StepRequest = z.infer<typeof stepRequest>
