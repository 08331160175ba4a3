import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Adds tasks, approvals, dead letters, sessions with their search, budgets, and the hub's own runs. */
export async function up(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await run(db, [...threads, ...cycles(dialect), ...history(dialect)])
  await dialect.createSearch(db)
  await run(db, [...ledger, ...triggers, ...keeping])
}

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const text of statements) await sql.raw(text).execute(db)
}

const threads = [
  ...['parent_id', 'instructions', 'grants_json', 'conversation_id', 'summary'].map(
    name => `alter table threads add column ${name} text`,
  ),
  ...['not_before', 'ended_at', 'archived_at'].map(name => `alter table threads add column ${name} bigint`),
  'alter table threads add column depth integer default 0 not null',
  'alter table threads add column wakes_parent integer default 0 not null',
  'create index threads_parent on threads (parent_id, status) where parent_id is not null',
  'create index threads_later on threads (not_before) where not_before is not null',
  // Ended tasks that are not archived yet.
  'create index threads_ended on threads (ended_at) where (ended_at is not null and archived_at is null)',
]

function cycles({ clustered }: Dialect): string[] {
  return [
    'alter table cycles add column attempts integer default 1 not null',
    'alter table cycles add column cost_micros bigint default 0 not null',
    'alter table cycles add column model text',
    'alter table cycles add column parked_at bigint',
    'alter table cycles add column stop_requested_by text',
    `create table usage_days (
      day text not null, agent text not null, tokens bigint not null, cost_micros bigint not null,
      wakes bigint not null, constraint usage_days_key primary key (day, agent)) ${clustered}`,
    `create table dead_letters (
      id text primary key, cycle_id text not null, thread_id text not null, agent text not null,
      status text not null, reason text not null, error_json text, retryable integer not null,
      created_at bigint not null, decided_at bigint, decided_by text)`,
    'create index dead_letters_status on dead_letters (status, created_at)',
  ]
}

function history({ clustered }: Dialect): string[] {
  return [
    "alter table history add column form text default 'whole' not null",
    `create table sessions (
      thread_id text not null, number integer not null, first_seq bigint not null, last_seq bigint not null,
      started_at bigint not null, ended_at bigint not null, messages integer not null,
      tokens bigint not null, reason text not null, summary text not null, summary_by text not null,
      head text, facts_json text, constraint sessions_key primary key (thread_id, number)) ${clustered}`,
  ]
}

const ledger = [
  "alter table tool_calls add column arguments_hash text default '' not null",
  'alter table tool_calls add column approval_id text',
  "create index tool_calls_doubtful on tool_calls (thread_id, tool) where status = 'unknown'",
  `create table approvals (
    id text primary key, call_id text not null unique, thread_id text not null, cycle_id text not null,
    agent text not null, tool text not null, arguments text not null, arguments_hash text not null,
    reason text not null, conversation_id text, status text not null, created_at bigint not null,
    expires_at bigint not null, decided_at bigint, decided_by text, decided_where text, note text,
    answered_at bigint)`,
  'create index approvals_status on approvals (status, expires_at)',
  'create index approvals_thread on approvals (thread_id, status)',
]

const triggers = [
  "alter table schedules add column missed text default 'latest' not null",
  "create index schedules_of_files on schedules (agent) where created_by = 'file'",
  'alter table events add column repeats integer default 0 not null',
  'create index events_repeated on events (type, key, received_at)',
  "create index schedules_waiting on schedules (status, id) where wake_on_events_json != '[]'",
]

/** What the hub knows about itself. */
const keeping = [
  `create table lives (
    id text primary key, started_at bigint not null, outlived integer not null, stepped integer not null,
    ended_at bigint)`,
  'create table hub_state (key text primary key, value_json text not null)',
]
