import { z } from 'zod'
import { duration } from './duration.ts'
import { fileIds } from './files.ts'
import { conversationId } from './names.ts'
import { type picture, pictures } from './picture.ts'
import type { Power } from './power.ts'
import { zoneName } from './timezone.ts'
import type { Role } from './tokens.ts'
import type { TraceContext } from './trace.ts'

/** Most characters that a person may send in one message. */
export const MAX_TEXT = 100_000

/** The text of one message from a person. */
export const messageText = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_TEXT, `a message has at most ${MAX_TEXT.toLocaleString('en')} characters; send it in parts`)

/** Most characters of the note beside a decision. */
export const MAX_NOTE = 2_000

/** Answers that a person may give to an approval. */
export const decisions = ['approve', 'deny'] as const

/** Span for which a yes holds for further calls of the tool, in milliseconds: `1h`, `1d`, `30d`. */
export const allowedFor = duration.refine(
  span => span >= 60_000 && span <= 366 * 86_400_000,
  'must be from 1m to 366d, such as 1d',
)

/** A frame that a client may send over `/ws`. */
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
    files: fileIds.optional(),
    timezone: zoneName.optional(),
    clientId: z.string().min(1).max(200).optional(),
  }),
  z.strictObject({
    type: z.literal('decide'),
    approval: z.string().min(1).max(200),
    decision: z.enum(decisions),
    note: z.string().trim().max(MAX_NOTE).optional(),
    always: allowedFor.optional(),
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
  /** The conversation that the person has before their eyes; null for none. */
  z.strictObject({ type: z.literal('look'), conversation: conversationId.nullable() }),
  z.strictObject({ type: z.literal('ping') }),
])
export type ClientFrame = z.infer<typeof clientFrame>
export type SentFrame = z.input<typeof clientFrame>

/** The target of a stop. */
export type StopTarget = { conversation: string } | { thread: string }

/** Returns the one target that is named; undefined where none or both are. */
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

/** Replaces the pictures by their number: each has hundreds of KB, and a text reader cannot see them. */
export function withoutPictures({ data, ...message }: ChatMessage): ChatMessage {
  if (!Array.isArray(data?.['images'])) return data === undefined ? message : { ...message, data }
  const { images, ...rest } = data
  return { ...message, data: { ...rest, pictures: images.length } }
}

/** A message that a person, or a program for one, writes in a conversation. */
export interface NewUserMessage {
  conversation: string
  text: string
  author: string
  /** Default: a person's. */
  power?: Power | undefined
  /** Entrance over which it came. */
  door?: '/ws' | 'mcp' | '/v1' | 'discord' | undefined
  images?: readonly z.infer<typeof picture>[] | undefined
  /** Ids of the author's files. */
  files?: readonly string[] | undefined
  /** IANA time zone of the author; one that is not that of a place counts as none. */
  timezone?: string | undefined
  clientId?: string | undefined
  /** JSON schema that the answer must fit. */
  schema?: Record<string, unknown> | undefined
  /** Trace of the request that brought it. */
  trace?: TraceContext | undefined
}

/** Most characters of a conversation's title. */
export const MAX_TITLE = 80

/** A conversation in the list that people see. `title` is missing where the slug is its name. */
export interface ConversationEntry {
  id: string
  agents: string[]
  lastSeq: number
  /** Time of its newest message; missing where it has none. */
  lastAt?: number
  title?: string
  pinned?: true
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
  /** Milliseconds for which the tool's further calls in work of the same power run unasked. */
  always?: number | undefined
  /** Name of the token; `where` is the endpoint that the answer came through. */
  by: string
  where: string
  /** Person who may answer only what is part of the own requests. */
  ofPerson?: string | undefined
}

/**
 * An approval as people see it. `arguments` is exactly what will run; where `question` is set a server asks a
 * person, and `arguments` hold the wanted fields or the page to open. Times are unix milliseconds.
 */
export interface Approval {
  id: string
  /** Names it in short; never used twice. */
  number: number
  agent: string
  tool: string
  arguments: Record<string, unknown>
  reason: string
  expiresAt: number
  status: ApprovalStatus
  /** Power of the work that the call is part of. */
  power: Power
  question?: boolean
  conversation?: string
  /** Authors of the messages that the work of an open one took: a member answers only what is the member's alone. */
  askedBy?: string[]
  decidedBy?: string
  decidedWhere?: string
  decidedAt?: number
  note?: string
}

export type AgentStatus = 'sleeping' | 'active' | 'waiting' | 'failed' | 'retired'

/** A frame that the hub sends over `/ws`. */
export type HubFrame =
  | {
      type: 'welcome'
      protocol: 1
      /** `held`: when the crash-loop guard stopped all agents. */
      hub: { name: string; version: string; held?: number }
      you: { name: string; role: Role }
      agents: { name: string; description: string; status: AgentStatus }[]
      conversations: ConversationEntry[]
    }
  | { type: 'conversation'; conversation: ConversationEntry }
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
  /** Servers, the config, the model or schedules changed; only the owner gets it. */
  | { type: 'changed' }
  | { type: 'pong' }
  | { type: 'error'; code: string; message: string; clientId?: string }
