import type { ColumnType, Generated, Insertable, Selectable } from 'kysely'
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

export type ThreadKind = 'main' | 'task'
export type ThreadStatus = 'active' | 'sleeping' | 'waiting' | 'complete' | 'failed' | 'cancelled'

export interface ThreadTable {
  id: string
  agent: string
  kind: ThreadKind
  status: ThreadStatus
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
  /** No cycle begins or goes on before: its provider cannot be reached, or its day's wakes are used up. */
  not_before: ColumnType<number | null, number | null | undefined>
  /** The thread that made this task, or for an event's the agent's main thread; null for a main thread. */
  parent_id: ColumnType<string | null, string | null | undefined>
  /** How many tasks stand above this one. */
  depth: Generated<number>
  /** 1: its summary wakes the parent; 0: it waits for the parent's next inbox. */
  wakes_parent: Generated<number>
  instructions: ColumnType<string | null, string | null | undefined>
  /** What its maker gave a task: `{tools?, limits?}`. */
  grants_json: ColumnType<string | null, string | null | undefined>
  /** The conversation of the cycle that made it. */
  conversation_id: ColumnType<string | null, string | null | undefined>
  /** What a task told at its end. */
  summary: ColumnType<string | null, string | null | undefined>
  /** What a task gave that fits the schema of its maker, a JSON object. */
  result_json: ColumnType<string | null, string | null | undefined>
  ended_at: ColumnType<number | null, number | null | undefined>
  archived_at: ColumnType<number | null, number | null | undefined>
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
  /** Of a person's message that has no answer yet; null once it has one, and for everything else. */
  unanswered: Unanswered | null
}

/**
 * `asked`: its conversation was given a text of its own, and the model kept silent. `again`: the cycle that took it
 * stopped before its turn came, and gave it back once.
 */
export type Unanswered = 'new' | 'again' | 'asked'

export interface CycleTable {
  id: string
  thread_id: string
  /** `running` is also one that is parked or was cut by a crash: it goes on. A `dead` one lies in the dead letters. */
  status: 'running' | 'done' | 'failed' | 'stopped' | 'dead'
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
  /** Attempts at its next step: one, and one more for each crash of the hub while it ran. */
  attempts: Generated<number>
  /** Money in millionths of the currency of the prices. */
  cost_micros: Generated<number>
  /** The model that made its last step. */
  model: ColumnType<string | null, string | null | undefined>
  /** Since when its provider cannot be reached; null while it can. */
  parked_at: ColumnType<number | null, number | null | undefined>
  /** Who asked it to stop at the next boundary. */
  stop_requested_by: ColumnType<string | null, string | null | undefined>
}

/** What a day's cycles of an agent used. The day is one of the configured time zone, `2026-11-22`. */
export interface UsageDayTable {
  day: string
  agent: string
  tokens: number
  cost_micros: number
  /** Cycles that no person's message was part of. */
  wakes: number
}

/** A cycle that failed for good, with what is needed to inspect, retry or discard it. */
export interface DeadLetterTable {
  id: string
  cycle_id: string
  thread_id: string
  agent: string
  status: 'open' | 'retried' | 'discarded'
  reason: string
  /** `{code, status?, message}` of the error, where one caused it. */
  error_json: string | null
  /** 1: the same may succeed later. */
  retryable: number
  created_at: number
  decided_at: number | null
  decided_by: string | null
}

export type HistoryForm = 'whole' | 'stub' | 'cut' | 'hidden'

export interface HistoryTable {
  thread_id: string
  seq: number
  cycle_id: string
  step: number
  content_json: string
  created_at: number
  /**
   * How the window shows it: whole, as a stub that says where to find it, cut to its beginning, or not at all. The
   * content itself stays.
   */
  form: Generated<HistoryForm>
}

/** A part of a thread's history that left its window, with the summary that stands for it. */
export interface SessionTable {
  thread_id: string
  /** Counts from 1 in each thread. */
  number: number
  first_seq: number
  last_seq: number
  started_at: number
  ended_at: number
  messages: number
  tokens: number
  reason: 'compaction' | 'idle' | 'reset' | 'ended'
  summary: string
  /** The model's name, `extract` where none was needed, or `task` for what a task said at its end. */
  summary_by: string
  /** What the window begins with after it; null where it begins with nothing. */
  head: string | null
  /** The stored facts that `head` tells, as JSON; null where it tells none, so that the next batch does. */
  facts_json: string | null
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
  /** Of the arguments' canonical JSON. */
  arguments_hash: Generated<string>
  /** The approval that it needed: its own result was only that it waits. */
  approval_id: string | null
}

export interface ApprovalTable {
  id: string
  /** The row of `tool_calls` that waits for it; its own id for a further question in the midst of such a call. */
  call_id: string
  thread_id: string
  cycle_id: string
  agent: string
  tool: string
  arguments: string
  arguments_hash: string
  /** Why it needs a person's yes. */
  reason: string
  conversation_id: string | null
  status: 'open' | 'approved' | 'denied' | 'expired'
  created_at: number
  expires_at: number
  decided_at: number | null
  /** The token's name, and the door. */
  decided_by: string | null
  decided_where: string | null
  note: string | null
  /** When its outcome was posted to the thread. */
  answered_at: number | null
  /** What a server asks in the midst of a call; null where a call waits for a yes. */
  question_json: ColumnType<string | null, string | null | undefined>
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
  /** What happens with occurrences that the hub slept through. */
  missed: Generated<'latest' | 'all' | 'skip'>
}

export interface EventTable {
  id: string
  source: string
  external_id: string
  type: string
  key: string
  payload_json: string
  status: 'pending' | 'processing' | 'handled' | 'ignored' | 'held'
  routed_to_json: string
  note: string | null
  at: number
  received_at: number
  /** How many of the same type and key were held since. */
  repeats: Generated<number>
  /** Its place among all that ever came, from 1. */
  seq: number
  /** When it goes, or went, to its takers; null for one that stays behind another, or that nobody took. */
  release_at: ColumnType<number | null, number | null | undefined>
  /** 1: it stands for a storm, and tells how many events there were. */
  is_storm: Generated<number>
}

/** One row. */
export interface EventFeedTable {
  /** The id under which places go on; a restored store gets another. */
  stream: string
  /** The place of the newest event, whether that is still there or not. */
  last_seq: number
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

export interface HubStateTable {
  key: string
  value_json: string
}

/** The words of the rows that left the windows; the full-text index follows this table by itself. */
export interface HistoryTextTable {
  id: Generated<number>
  text: string
  thread_id: string
  seq: number
  created_at: number
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
  event_feed: EventFeedTable
  event_cursors: EventCursorTable
  server_eras: ServerEraTable
  conversations: ConversationTable
  messages: MessageTable
  usage_days: UsageDayTable
  dead_letters: DeadLetterTable
  sessions: SessionTable
  approvals: ApprovalTable
  hub_state: HubStateTable
  history_texts: HistoryTextTable
}

export type ThreadRow = Selectable<ThreadTable>
export type CycleRow = Selectable<CycleTable>
export type ToolCallRow = Selectable<ToolCallTable>
export type ScheduleRow = Selectable<ScheduleTable>
export type EventRow = Selectable<EventTable>
export type MessageRow = Selectable<MessageTable>
export type NewSchedule = Insertable<ScheduleTable>
export type NewToolCall = Insertable<ToolCallTable>
export type ApprovalRow = Selectable<ApprovalTable>
export type DeadLetterRow = Selectable<DeadLetterTable>
export type SessionRow = Selectable<SessionTable>
