import type { Generated, Insertable, Selectable } from 'kysely'
import type { AuditKind } from '../../schemas/audit.ts'
import type { ToolCallStatus } from '../../schemas/chat.ts'
import type { NotifiedOf } from '../../schemas/notify.ts'
import type { Power, ToolClass } from '../../schemas/power.ts'
import type { ConversationTables } from './conversation-tables.ts'
import type { DoorTables } from './door-tables.ts'

/*
 * The rows of the tables. Times are unix milliseconds, flags 0 or 1, columns that end in _json hold JSON text
 * that is parsed with a schema where it is read.
 */

export type ThreadStatus = 'active' | 'sleeping' | 'waiting' | 'complete' | 'failed' | 'cancelled'

/**
 * `asked`: its conversation was given a text of its own, and the model kept silent. `again`: the cycle that
 * took it stopped before its turn came, and gave it back once.
 */
export type Unanswered = 'new' | 'again' | 'asked'

export type HistoryForm = 'whole' | 'stub' | 'cut' | 'hidden'

/** `sent`: the notifications server took it. `over`: what it was about ended first. */
export type NotificationState = 'due' | 'sent' | 'failed' | 'over'

export interface Tables extends DoorTables, ConversationTables {
  agents: {
    name: string
    /** Time at which its file went away; null while there is one. */
    retired_at: number | null
    created_at: number
  }
  threads: {
    id: string
    agent: string
    kind: 'main' | 'task'
    status: ThreadStatus
    window_start: number
    last_seq: number
    /** Process that runs its cycle, and the time until which; null while none does. */
    lease_owner: string | null
    lease_until: number | null
    /** Fencing number: grows with each claim, and every write of a cycle carries it. */
    fence: number
    created_at: number
    updated_at: number
    /** Time before which no cycle begins or goes on: its provider is unreachable, or its wakes are used up. */
    not_before: number | null
    /** The thread that made this task, or for an event's the agent's main thread; null for a main thread. */
    parent_id: string | null
    depth: Generated<number>
    /** 1: its summary wakes the parent; 0: the summary waits for the parent's next inbox. */
    wakes_parent: Generated<number>
    instructions: string | null
    /** Grants of a task from its maker: `{tools?, limits?}`. */
    grants_json: string | null
    conversation_id: string | null
    summary: string | null
    /** Result of a task that fits the schema of its maker, a JSON object. */
    result_json: string | null
    ended_at: number | null
    archived_at: number | null
    /** Power of a task's maker; a main thread has none of its own. */
    power: Generated<Power>
  }
  inbox: {
    seq: Generated<number>
    thread_id: string
    source: string
    /** Id that is unique for its thread and source: a repeated delivery is absorbed. */
    external_id: string
    payload_json: string
    conversation_id: string | null
    created_at: number
    cycle_id: string | null
    /** State of a person's message that has no answer yet; null once it has one, and for everything else. */
    unanswered: Unanswered | null
    power: Generated<Power>
    /** 1: work that has read text from outside made it. */
    read_foreign: Generated<number>
  }
  cycles: {
    id: string
    thread_id: string
    /**
     * `running` includes cycles that are suspended or were cut by a crash: they go on. A `dead` cycle is in the
     * dead letters.
     */
    status: 'running' | 'done' | 'failed' | 'stopped' | 'dead'
    fence: number
    /** Conversation that its final text goes to; null for nowhere. */
    reply_to: string | null
    steps: number
    input_tokens: number
    output_tokens: number
    cached_tokens: number
    started_at: number
    ended_at: number | null
    note: string | null
    /** Attempts at its next step: one, and one more for each crash of the hub while it ran. */
    attempts: Generated<number>
    /** Money in millionths of the prices' currency. */
    cost_micros: Generated<number>
    model: string | null
    /** Time since which its provider cannot be reached; null while it can. */
    parked_at: number | null
    stop_requested_by: string | null
    /** Power of the items that it took. */
    power: Generated<Power>
    /** 1: it has read text that comes from outside. */
    read_foreign: Generated<number>
  }
  history: {
    thread_id: string
    seq: number
    cycle_id: string
    step: number
    content_json: string
    created_at: number
    /**
     * Form in the window: whole, a stub that says where to find it, cut to its beginning, or hidden. The
     * content itself stays.
     */
    form: Generated<HistoryForm>
  }
  tool_calls: {
    id: string
    thread_id: string
    cycle_id: string
    step: number
    position: number
    call_id: string
    tool: string
    arguments: string
    status: ToolCallStatus
    result_json: string | null
    created_at: number
    started_at: number | null
    ended_at: number | null
    arguments_hash: Generated<string>
    /** Approval that the call needed: its own result was only that it waits. */
    approval_id: string | null
  }
  context: {
    scope: 'agent' | 'thread'
    owner: string
    key: string
    value: string
    updated_at: number
    /** Power of the cycle that stored it. */
    power: Generated<Power>
  }
  schedules: {
    id: string
    agent: string
    thread_id: string
    kind: 'once' | 'cron'
    cron: string | null
    timezone: string
    reason: string
    /** Time of the next run; null for a schedule that only an event ends, and for one that is over. */
    next_run: number | null
    wake_on_events_json: string
    conversation_id: string | null
    status: 'active' | 'held' | 'done' | 'cancelled'
    created_by: string
    created_at: number
    last_run: number | null
    missed: Generated<'latest' | 'all' | 'skip'>
    /** Power of whoever made it. */
    power: Generated<Power>
    /** 1: work that has read text from outside made it. */
    read_foreign: Generated<number>
  }
  events: {
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
    /** Events of the same type and key that were held since. */
    repeats: Generated<number>
    /** Position among all events that ever came, from 1. */
    seq: number
    /**
     * Time at which it goes, or went, to its recipients; null for an event that stays behind another, or that
     * nobody took.
     */
    release_at: number | null
    /** 1: the event stands for a storm, and tells how many events there were. */
    is_storm: Generated<number>
    power: Generated<Power>
  }
  /** The state of the hub's own feed of events, one row. */
  event_feed: {
    /** Id under which the seqs continue; a restored store gets another. */
    stream: string
    /** Seq of the newest event, whether that is still there or not. */
    last_seq: number
  }
  event_cursors: { server: string; stream: string; cursor: number }
  server_eras: {
    /** Hash of what the server is started or reached by. */
    server: string
    verdict_json: string
    at: number
  }
  /** Notifications that are to be sent; their words are made at that time. */
  notifications: {
    /** Id of what it is about: of an approval. */
    id: string
    about: NotifiedOf
    state: NotificationState
    /** Tries that failed. */
    attempts: number
    /** Time of the next try; null if there is none. */
    due_at: number | null
    created_at: number
  }
  /** Amounts that an agent's cycles used on one day of the configured time zone, `2026-11-22`. */
  usage_days: {
    day: string
    agent: string
    tokens: number
    cost_micros: number
    /** Cycles without a person's message. */
    wakes: number
  }
  /** A cycle that failed for good, with what is needed to inspect, retry or discard it. */
  dead_letters: {
    id: string
    cycle_id: string
    thread_id: string
    agent: string
    status: 'open' | 'retried' | 'discarded'
    reason: string
    /** `{code, status?, message}` of the error; null if none caused it. */
    error_json: string | null
    /** 1: the same may succeed later. */
    retryable: number
    created_at: number
    decided_at: number | null
    decided_by: string | null
  }
  /** A part of a thread's history that left its window, with the summary that stands for it. */
  sessions: {
    thread_id: string
    /** Number of the session in its thread, from 1. */
    number: number
    first_seq: number
    last_seq: number
    started_at: number
    ended_at: number
    messages: number
    tokens: number
    reason: 'compaction' | 'idle' | 'reset' | 'ended'
    summary: string
    /** Name of the model, `extract` if none was needed, or `task` for what a task said at its end. */
    summary_by: string
    /** Beginning of the window after it; null if there is none. */
    head: string | null
    /** Stored facts that `head` tells, as JSON; null if it tells none, so that the next batch does. */
    facts_json: string | null
  }
  approvals: {
    id: string
    /** Row of `tool_calls` that waits for it; its own id for a further question in the midst of such a call. */
    call_id: string
    thread_id: string
    cycle_id: string
    agent: string
    tool: string
    arguments: string
    arguments_hash: string
    reason: string
    conversation_id: string | null
    status: 'open' | 'approved' | 'denied' | 'expired'
    created_at: number
    expires_at: number
    decided_at: number | null
    /** Name of the token that decided, and the entrance over which it did. */
    decided_by: string | null
    decided_where: string | null
    note: string | null
    /** Time at which its outcome was posted to the thread. */
    answered_at: number | null
    /** Process that runs its call, and the time until which; null while none does. */
    lease_owner: string | null
    lease_until: number | null
    /** Question of a server in the midst of a call; null for a call that waits for a yes. */
    question_json: string | null
    /** Power of the cycle that made the call. */
    power: Generated<Power>
    /** Number by which people name it, from 1 on. */
    number: Generated<number>
  }
  /** A person's yes that holds for one tool of an agent, in work of one power, until a time. */
  allowances: {
    id: string
    agent: string
    tool: string
    power: Power
    /** Reason for which the approval was asked: the allowance holds for no other. */
    reason: string
    until: number
    /** Name of the token. */
    created_by: string
    created_at: number
    revoked_at: number | null
  }
  /** A tool of another's server as a person accepted it, or as it was first seen, beside what it is now. */
  tool_pins: {
    server: string
    /** Its name on its server. */
    tool: string
    class: ToolClass
    /** For each part of the definition its hash and the beginning of its text. */
    parts_json: string
    /** Class and parts as last listed; those of the pin while nothing changed. */
    seen_class: ToolClass
    seen_json: string
    first_seen_at: number
    /** The most dangerous class that the server gave it since, and when; null if that is not above `class`. */
    risen_to: ToolClass | null
    risen_at: number | null
  }
  /** What happened, by whom; append-only. */
  audit: {
    /** From 1, without gaps. */
    seq: number
    at: number
    kind: AuditKind
    actor: string
    /** Role of the token, and the entrance; null where there is none. */
    role: string | null
    door: string | null
    power: Power | null
    tool: string | null
    outcome: string
    /** Id of a tool call: of `tool_calls`, which holds its arguments, or of a client's call. */
    call_id: string | null
    details_json: string
    /** SHA-256 of the hash of the row before and of this row. */
    hash: string
  }
  /** The two ends of the audit's chain, one row: its newest row, and the newest of those that retention removed. */
  audit_chain: { last_seq: number; last_hash: string; removed_seq: number; removed_hash: string }
  hub_state: { key: string; value_json: string }
  /** The words of rows that left the windows; the full-text index follows this table by itself. */
  history_texts: { id: Generated<number>; text: string; thread_id: string; seq: number; created_at: number }
}

export type ThreadRow = Selectable<Tables['threads']>
export type CycleRow = Selectable<Tables['cycles']>
export type ToolCallRow = Selectable<Tables['tool_calls']>
export type ScheduleRow = Selectable<Tables['schedules']>
export type EventRow = Selectable<Tables['events']>
export type MessageRow = Selectable<Tables['messages']>
export type NewSchedule = Insertable<Tables['schedules']>
export type NewToolCall = Insertable<Tables['tool_calls']>
export type NotificationRow = Selectable<Tables['notifications']>
export type ApprovalRow = Selectable<Tables['approvals']>
export type ToolPinRow = Selectable<Tables['tool_pins']>
export type AuditTableRow = Selectable<Tables['audit']>
export type AllowanceRow = Selectable<Tables['allowances']>
export type DeadLetterRow = Selectable<Tables['dead_letters']>
export type SessionRow = Selectable<Tables['sessions']>
export type UsageDay = Tables['usage_days']
