import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/**
 * Creates the nouns of the hub: agents, threads, inbox, cycles, history, ledger, context, schedules, events,
 * conversations.
 */
export async function up(db: Kysely<unknown>, { serialKey, clustered }: Dialect): Promise<void> {
  const statements = [
    'create table agents (name text primary key, retired_at bigint, created_at bigint not null)',
    `create table threads (
      id text primary key, agent text not null, kind text not null, status text not null,
      window_start bigint not null, last_seq bigint not null, lease_owner text, lease_until bigint,
      fence bigint not null, created_at bigint not null, updated_at bigint not null) ${clustered}`,
    'create index threads_agent on threads (agent, kind)',
    `create table inbox (
      seq ${serialKey}, thread_id text not null, source text not null, external_id text not null,
      payload_json text not null, conversation_id text, created_at bigint not null, cycle_id text)`,
    'create unique index inbox_once on inbox (source, external_id, thread_id)',
    'create index inbox_waiting on inbox (thread_id, seq) where cycle_id is null',
    'create index inbox_cycle on inbox (cycle_id) where cycle_id is not null',
    `create table cycles (
      id text primary key, thread_id text not null, status text not null, fence bigint not null,
      reply_to text, steps integer not null, input_tokens bigint not null, output_tokens bigint not null,
      cached_tokens bigint not null, started_at bigint not null, ended_at bigint, note text) ${clustered}`,
    'create index cycles_thread on cycles (thread_id, started_at)',
    "create unique index cycles_running on cycles (thread_id) where status = 'running'",
    `create table history (
      thread_id text not null, seq bigint not null, cycle_id text not null, step integer not null,
      content_json text not null, created_at bigint not null,
      constraint history_key primary key (thread_id, seq)) ${clustered}`,
    `create table tool_calls (
      id text primary key, thread_id text not null, cycle_id text not null, step integer not null,
      position integer not null, call_id text not null, tool text not null, arguments text not null,
      status text not null, result_json text, created_at bigint not null, started_at bigint, ended_at bigint,
      constraint tool_calls_place unique (cycle_id, step, position)) ${clustered}`,
    `create table context (
      scope text not null, owner text not null, key text not null, value text not null,
      updated_at bigint not null, constraint context_key primary key (scope, owner, key))`,
    `create table schedules (
      id text primary key, agent text not null, thread_id text not null, kind text not null, cron text,
      timezone text not null, reason text not null, next_run bigint, wake_on_events_json text not null,
      conversation_id text, status text not null, created_by text not null, created_at bigint not null,
      last_run bigint)`,
    'create index schedules_due on schedules (status, next_run)',
    'create index schedules_thread on schedules (thread_id, status, next_run, id)',
    `create table events (
      id text primary key, source text not null, external_id text not null, type text not null,
      key text not null, payload_json text not null, status text not null, routed_to_json text not null,
      note text, at bigint not null, received_at bigint not null,
      constraint events_once unique (source, external_id))`,
    'create index events_received on events (received_at)',
    'create table event_cursors (server text primary key, stream text not null, cursor bigint not null)',
    'create table server_eras (server text primary key, verdict_json text not null, at bigint not null)',
    `create table conversations (
      id text primary key, last_seq bigint not null, created_at bigint not null) ${clustered}`,
    `create table messages (
      conversation_id text not null, seq bigint not null, id text not null, kind text not null,
      author text not null, text text not null, at bigint not null, token text, client_id text,
      in_reply_to_json text, data_json text, cycle_id text,
      constraint messages_key primary key (conversation_id, seq)) ${clustered}`,
    `create unique index messages_once on messages (conversation_id, token, client_id)
      where client_id is not null`,
    'create index messages_cycle on messages (cycle_id) where cycle_id is not null',
  ]
  for (const text of statements) await sql.raw(text).execute(db)
}
