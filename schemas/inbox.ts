import { z } from 'zod'
import { storedPicture } from './picture.ts'

/** Either an event's type, or a type with what its payload must hold (globs for texts). */
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

/** What happens with a schedule's occurrences that the hub slept through. */
export const missedPolicy = z.enum(['latest', 'all', 'skip'])

export const eventFact = z.object({
  id: z.string(),
  type: z.string(),
  source: z.string(),
  payload: z.record(z.string(), z.unknown()),
  at: z.number(),
  /** How often the same was held back before an agent took this one. */
  repeats: z.int().optional(),
})
export type EventFact = z.infer<typeof eventFact>

/** Something that happened; unique by its source and the id that it has there. */
export interface NewEvent {
  source: string
  externalId: string
  type: string
  key?: string | undefined
  payload: Record<string, unknown>
  at: number
}

/** Where an event went: the threads that it wakes. */
export interface RoutedEvent {
  id: string
  status: 'pending' | 'ignored' | 'held'
  routedTo: string[]
  /** Why, in words. */
  note: string
}

const jsonObject = z.record(z.string(), z.unknown())

/** What an inbox item carries, by what posted it. */
export const inboxPayload = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    conversation: z.string(),
    messageId: z.string(),
    author: z.string(),
    text: z.string(),
    /** It has pictures, which lie with the message of this seq in its conversation. */
    pictures: z.object({ count: z.int().positive(), seq: z.int() }).optional(),
    /** The JSON schema that its answer must fit. */
    schema: jsonObject.optional(),
  }),
  z.object({
    kind: z.literal('wake'),
    schedule: z.string(),
    reason: z.string(),
    dueAt: z.number(),
    early: eventFact.optional(),
  }),
  z.object({ kind: z.literal('event'), event: eventFact }),
  z.object({ kind: z.literal('notice'), text: z.string() }),
  // The history starts fresh with the batch that holds it.
  z.object({ kind: z.literal('reset'), by: z.string(), message: z.string().optional() }),
  // A message of another agent. `hops` counts the messages between agents that led to it without a person.
  z.object({
    kind: z.literal('agent'),
    from: z.string(),
    thread: z.string(),
    text: z.string(),
    hops: z.int().nonnegative(),
  }),
  // A task that ended.
  z.object({
    kind: z.literal('task'),
    task: z.string(),
    status: z.enum(['complete', 'failed', 'cancelled']),
    instructions: z.string(),
    summary: z.string(),
    /** What fits the schema that its maker gave. */
    result: jsonObject.optional(),
    hops: z.int().nonnegative().optional(),
    /** An event made it, and nobody waits for it. */
    quiet: z.literal(true).optional(),
  }),
  // A person's answer to an approval, with what the call gave where it ran.
  z.object({
    kind: z.literal('approval'),
    approval: z.string(),
    tool: z.string(),
    arguments: z.string(),
    status: z.enum(['approved', 'denied', 'expired']),
    /** A server asked in the midst of the call: the status is that of the question, and the call ran. */
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
export const storedFact = z.object({ scope: z.enum(['agent', 'thread']), key: z.string(), value: z.string() })
export type StoredFact = z.infer<typeof storedFact>

/** What one row of history holds, by its role. */
export const historyContent = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('user'),
    text: z.string(),
    items: z.array(batchItem),
    /** It tells the stored context whole. */
    tellsContext: z.boolean().optional(),
    /** The stored facts that it tells: all of them, or those that changed; an empty value for one that is gone. */
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
        /** Its model wants a person's yes. */
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
