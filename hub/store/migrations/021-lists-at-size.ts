import { type Kysely, sql } from 'kysely'

/** Adds indexes so that lists, retention and a start read what they need of large tables, not all of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // These serve lists, in their order.
  'drop index threads_agent',
  'create index threads_agent on threads (agent, kind, created_at desc, id desc)',
  'create index threads_listed on threads (kind, created_at desc, id desc)',
  'create index schedules_agent on schedules (agent, status)',
  'create index schedules_fired on schedules (last_run) where last_run is not null',
  'create index approvals_created on approvals (created_at, id)',
  'create index dead_letters_created on dead_letters (created_at, id)',
  'create index events_status on events (status, received_at, id)',
  // These hold rows that are not over yet, which are few.
  'create index approvals_unanswered on approvals (decided_at) where answered_at is null',
  'create index files_unsent on files (created_at) where message_id is null',
  // These find the rows that retention deletes.
  'create index approvals_decided on approvals (decided_at) where decided_at is not null',
  'create index approval_keys_created on approval_keys (created_at)',
  'create index dead_letters_decided on dead_letters (decided_at) where decided_at is not null',
  'create index notifications_created on notifications (created_at)',
]
