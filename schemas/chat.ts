import { z } from 'zod'
import { conversationId } from './names.ts'
import { type picture, pictures } from './picture.ts'

/** The longest text that a person may send at once, in characters. */
export const MAX_TEXT = 100_000

/** What a person says at once. */
export const messageText = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_TEXT, `a message has at most ${MAX_TEXT.toLocaleString('en')} characters; send it in parts`)

/** The longest note beside a decision, in characters. */
export const MAX_NOTE = 2_000

/** What a person may answer to an approval. */
export const decisions = ['approve', 'deny'] as const

/** What a client may send over `/ws`. */
export const clientFrame = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('subscribe'),
    conversation: conversationId,
    after: z.int().nonnegative().optional(),
  }),
  z.strictObject({
    type: z.literal('message'),
    conversation: conversationId,
    text: messageText,
    images: pictures.optional(),
    clientId: z.string().min(1).max(200).optional(),
  }),
  z.strictObject({
    type: z.literal('decide'),
    approval: z.string().min(1).max(200),
    decision: z.enum(decisions),
    note: z.string().trim().max(MAX_NOTE).optional(),
  }),
  z
    .strictObject({
      type: z.literal('stop'),
      conversation: conversationId.optional(),
      thread: z.string().min(1).max(200).optional(),
    })
    .refine(named => toStopTarget(named) !== undefined, {
      error: 'names either a conversation or a thread',
    }),
  z.strictObject({ type: z.literal('ping') }),
])
export type ClientFrame = z.infer<typeof clientFrame>

/** What a stop is meant for. */
export type StopTarget = { conversation: string } | { thread: string }

/** Exactly one of both; undefined where neither is there, or both are. */
export function toStopTarget(named: {
  conversation?: string | undefined
  thread?: string | undefined
}): StopTarget | undefined {
  const { conversation, thread } = named
  if (conversation !== undefined) return thread === undefined ? { conversation } : undefined
  return thread === undefined ? undefined : { thread }
}

export const messageKinds = ['user', 'agent', 'tool', 'notice', 'error'] as const
export type MessageKind = (typeof messageKinds)[number]

/** A message of a conversation as people see it. Times are unix milliseconds. */
export interface ChatMessage {
  seq: number
  id: string
  conversation: string
  kind: MessageKind
  author: string
  text: string
  at: number
  clientId?: string
  inReplyTo?: string[]
  data?: Record<string, unknown>
}

/** The message with the number of its pictures in place of them: hundreds of KB each, which a text reader cannot see. */
export function withoutPictures({ data, ...message }: ChatMessage): ChatMessage {
  if (!Array.isArray(data?.['images'])) return data === undefined ? message : { ...message, data }
  const { images, ...rest } = data
  return { ...message, data: { ...rest, pictures: images.length } }
}

/** What a person, or a program for one, says in a conversation. */
export interface NewUserMessage {
  conversation: string
  text: string
  author: string
  /** The name of the token that it came with. */
  token: string
  images?: readonly z.infer<typeof picture>[] | undefined
  clientId?: string | undefined
  /** The JSON schema that the answer must fit. */
  schema?: Record<string, unknown> | undefined
}

export const toolCallStatuses = [
  'planned',
  'waiting',
  'started',
  'ok',
  'error',
  'unknown',
  'denied',
  'expired',
  'skipped',
] as const
export type ToolCallStatus = (typeof toolCallStatuses)[number]

export const approvalStatuses = ['open', 'approved', 'denied', 'expired'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

/** A person's answer to an approval. */
export interface Decision {
  id: string
  decision: (typeof decisions)[number]
  note?: string | undefined
  /** The name of the token, and the door that it came through. */
  by: string
  where: string
}

/**
 * An approval as people see it. `arguments` is exactly what will run; where `question` is set a server asks, and they
 * say for what. Times are unix milliseconds.
 */
export interface Approval {
  id: string
  agent: string
  tool: string
  arguments: Record<string, unknown>
  reason: string
  expiresAt: number
  status: ApprovalStatus
  question?: boolean
  conversation?: string
  decidedBy?: string
  decidedWhere?: string
  decidedAt?: number
  note?: string
}

export type AgentStatus = 'sleeping' | 'active' | 'waiting' | 'failed' | 'retired'

/** What the hub sends over `/ws`. */
export type HubFrame =
  | {
      type: 'welcome'
      protocol: 1
      /** `held`: since when no agent runs, after a crash loop. */
      hub: { name: string; version: string; held?: number }
      agents: { name: string; description: string; status: AgentStatus }[]
      conversations: { id: string; agents: string[]; lastSeq: number }[]
    }
  | { type: 'subscribed'; conversation: string; lastSeq: number }
  | { type: 'accepted'; clientId?: string; message: ChatMessage }
  | { type: 'message'; message: ChatMessage }
  | { type: 'delta'; conversation: string; cycle: string; text: string }
  | {
      type: 'tool'
      conversation: string
      cycle: string
      call: { id: string; tool: string; status: ToolCallStatus; summary?: string }
    }
  | { type: 'agent'; name: string; status: AgentStatus }
  | { type: 'approval'; approval: Approval }
  | { type: 'pong' }
  | { type: 'error'; code: string; message: string; clientId?: string }
