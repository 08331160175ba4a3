import type { Generated, Insertable, Selectable } from 'kysely'
import type { MessageKind, ToolCallStatus } from '../../schemas/chat.ts'

/*
 * The rows of both databases. Times are unix milliseconds, flags 0 or 1, columns that end in _json hold JSON text
 * that is parsed with a schema where it is read.
 */

export interface AgentTable {
  name: string
  /** When its file went away; null while there is one. */
  retired_at: number | null
  created_at: number
}

export interface ThreadTable {
  id: string
  agent: string
  kind: 'main'
  status: 'active' | 'sleeping'
  /** The history's seq at which the window starts. */
  window_start: number
  /** The newest seq of its history. */
  last_seq: number
  /** Who runs its cycle, until when; null while nobody does. */
  lease_owner: string | null
  lease_until: number | null
  /** Grows with each claim; every write of a cycle carries it. */
  fence: number
  created_at: number
  updated_at: number
}

export interface InboxTable {
  seq: Generated<number>
  thread_id: string
  source: string
  /** Unique for its thread and source: a repeated delivery is absorbed. */
  external_id: string
  payload_json: string
  /** The conversation that the reply goes to, where one is known. */
  conversation_id: string | null
  created_at: number
  /** The cycle that took it; null while it waits. */
  cycle_id: string | null
}

export interface CycleTable {
  id: string
  thread_id: string
  status: 'running' | 'done' | 'failed'
  fence: number
  /** The conversation that its final text goes to; null for nowhere. */
  reply_to: string | null
  steps: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  started_at: number
  ended_at: number | null
  /** Why it failed or was cut short. */
  note: string | null
}

export interface HistoryTable {
  thread_id: string
  seq: number
  cycle_id: string
  step: number
  content_json: string
  created_at: number
}

export interface ToolCallTable {
  id: string
  thread_id: string
  cycle_id: string
  step: number
  position: number
  /** The id that the model gave it. */
  call_id: string
  tool: string
  arguments: string
  status: ToolCallStatus
  result_json: string | null
  created_at: number
  started_at: number | null
  ended_at: number | null
}

export interface ContextTable {
  scope: 'agent' | 'thread'
  owner: string
  key: string
  value: string
  updated_at: number
}

export interface ScheduleTable {
  id: string
  agent: string
  thread_id: string
  kind: 'once' | 'cron'
  cron: string | null
  timezone: string
  reason: string
  /** Null for one that only an event ends, and for one that is over. */
  next_run: number | null
  wake_on_events_json: string
  conversation_id: string | null
  status: 'active' | 'held' | 'done' | 'cancelled'
  created_by: string
  created_at: number
  last_run: number | null
}

export interface EventTable {
  id: string
  source: string
  external_id: string
  type: string
  key: string
  payload_json: string
  status: 'pending' | 'handled' | 'ignored'
  routed_to_json: string
  note: string | null
  at: number
  received_at: number
}

export interface EventCursorTable {
  server: string
  stream: string
  cursor: number
}

export interface ServerEraTable {
  /** A hash of what the server is started or reached by. */
  server: string
  verdict_json: string
  at: number
}

export interface ConversationTable {
  id: string
  last_seq: number
  created_at: number
}

export interface MessageTable {
  conversation_id: string
  seq: number
  id: string
  kind: MessageKind
  author: string
  text: string
  at: number
  /** The token's name and the client's own id for it: a repeat is absorbed. */
  token: string | null
  client_id: string | null
  in_reply_to_json: string | null
  data_json: string | null
  cycle_id: string | null
}

export interface Tables {
  agents: AgentTable
  threads: ThreadTable
  inbox: InboxTable
  cycles: CycleTable
  history: HistoryTable
  tool_calls: ToolCallTable
  context: ContextTable
  schedules: ScheduleTable
  events: EventTable
  event_cursors: EventCursorTable
  server_eras: ServerEraTable
  conversations: ConversationTable
  messages: MessageTable
}

export type ThreadRow = Selectable<ThreadTable>
export type CycleRow = Selectable<CycleTable>
export type ToolCallRow = Selectable<ToolCallTable>
export type ScheduleRow = Selectable<ScheduleTable>
export type EventRow = Selectable<EventTable>
export type MessageRow = Selectable<MessageTable>
export type NewSchedule = Insertable<ScheduleTable>
export type NewToolCall = Insertable<ToolCallTable>
