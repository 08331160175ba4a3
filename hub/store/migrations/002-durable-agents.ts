import type { Kysely } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Adds tasks, approvals, dead letters, sessions with their search, budgets, and the hub's own runs. */
export async function up(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await extendThreads(db)
  await indexEnded(db)
  await extendCycles(db, dialect)
  await extendHistory(db, dialect)
  await extendLedger(db)
  await extendTriggers(db)
  await createKeeping(db)
}

async function extendThreads(db: Kysely<unknown>) {
  const text = ['parent_id', 'instructions', 'grants_json', 'conversation_id', 'summary'] as const
  for (const name of text) await db.schema.alterTable('threads').addColumn(name, 'text').execute()
  const times = ['not_before', 'ended_at', 'archived_at'] as const
  for (const name of times) await db.schema.alterTable('threads').addColumn(name, 'bigint').execute()
  for (const name of ['depth', 'wakes_parent'] as const) {
    await db.schema
      .alterTable('threads')
      .addColumn(name, 'integer', column => column.notNull().defaultTo(0))
      .execute()
  }
  await db.schema
    .createIndex('threads_parent')
    .on('threads')
    .columns(['parent_id', 'status'])
    .where('parent_id' as never, 'is not', null)
    .execute()
  await db.schema
    .createIndex('threads_later')
    .on('threads')
    .column('not_before')
    .where('not_before' as never, 'is not', null)
    .execute()
}

/** Indexes ended tasks that are not archived yet. */
async function indexEnded(db: Kysely<unknown>) {
  await db.schema
    .createIndex('threads_ended')
    .on('threads')
    .column('ended_at')
    .where(({ and, eb }) =>
      and([eb('ended_at' as never, 'is not', null), eb('archived_at' as never, 'is', null)]),
    )
    .execute()
}

async function extendCycles(db: Kysely<unknown>, dialect: Dialect) {
  const cycles = () => db.schema.alterTable('cycles')
  await cycles()
    .addColumn('attempts', 'integer', column => column.notNull().defaultTo(1))
    .execute()
  await cycles()
    .addColumn('cost_micros', 'bigint', column => column.notNull().defaultTo(0))
    .execute()
  await cycles().addColumn('model', 'text').execute()
  await cycles().addColumn('parked_at', 'bigint').execute()
  await cycles().addColumn('stop_requested_by', 'text').execute()
  await db.schema
    .createTable('usage_days')
    .addColumn('day', 'text', column => column.notNull())
    .addColumn('agent', 'text', column => column.notNull())
    .addColumn('tokens', 'bigint', column => column.notNull())
    .addColumn('cost_micros', 'bigint', column => column.notNull())
    .addColumn('wakes', 'bigint', column => column.notNull())
    .addPrimaryKeyConstraint('usage_days_key', ['day', 'agent'])
    .$call(dialect.clustered)
    .execute()
  await db.schema
    .createTable('dead_letters')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('cycle_id', 'text', column => column.notNull())
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('agent', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('reason', 'text', column => column.notNull())
    .addColumn('error_json', 'text')
    .addColumn('retryable', 'integer', column => column.notNull())
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addColumn('decided_at', 'bigint')
    .addColumn('decided_by', 'text')
    .execute()
  await db.schema
    .createIndex('dead_letters_status')
    .on('dead_letters')
    .columns(['status', 'created_at'])
    .execute()
}

async function extendHistory(db: Kysely<unknown>, dialect: Dialect) {
  await db.schema
    .alterTable('history')
    .addColumn('form', 'text', column => column.notNull().defaultTo('whole'))
    .execute()
  await db.schema
    .createTable('sessions')
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('number', 'integer', column => column.notNull())
    .addColumn('first_seq', 'bigint', column => column.notNull())
    .addColumn('last_seq', 'bigint', column => column.notNull())
    .addColumn('started_at', 'bigint', column => column.notNull())
    .addColumn('ended_at', 'bigint', column => column.notNull())
    .addColumn('messages', 'integer', column => column.notNull())
    .addColumn('tokens', 'bigint', column => column.notNull())
    .addColumn('reason', 'text', column => column.notNull())
    .addColumn('summary', 'text', column => column.notNull())
    .addColumn('summary_by', 'text', column => column.notNull())
    .addColumn('head', 'text')
    .addColumn('facts_json', 'text')
    .addPrimaryKeyConstraint('sessions_key', ['thread_id', 'number'])
    .$call(dialect.clustered)
    .execute()
  await dialect.createSearch(db)
}

async function extendLedger(db: Kysely<unknown>) {
  await db.schema
    .alterTable('tool_calls')
    .addColumn('arguments_hash', 'text', column => column.notNull().defaultTo(''))
    .execute()
  await db.schema.alterTable('tool_calls').addColumn('approval_id', 'text').execute()
  await db.schema
    .createIndex('tool_calls_doubtful')
    .on('tool_calls')
    .columns(['thread_id', 'tool'])
    .where('status' as never, '=', 'unknown')
    .execute()
  await db.schema
    .createTable('approvals')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('call_id', 'text', column => column.notNull().unique())
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('cycle_id', 'text', column => column.notNull())
    .addColumn('agent', 'text', column => column.notNull())
    .addColumn('tool', 'text', column => column.notNull())
    .addColumn('arguments', 'text', column => column.notNull())
    .addColumn('arguments_hash', 'text', column => column.notNull())
    .addColumn('reason', 'text', column => column.notNull())
    .addColumn('conversation_id', 'text')
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addColumn('expires_at', 'bigint', column => column.notNull())
    .addColumn('decided_at', 'bigint')
    .addColumn('decided_by', 'text')
    .addColumn('decided_where', 'text')
    .addColumn('note', 'text')
    .addColumn('answered_at', 'bigint')
    .execute()
  await db.schema.createIndex('approvals_status').on('approvals').columns(['status', 'expires_at']).execute()
  await db.schema.createIndex('approvals_thread').on('approvals').columns(['thread_id', 'status']).execute()
}

async function extendTriggers(db: Kysely<unknown>) {
  await db.schema
    .alterTable('schedules')
    .addColumn('missed', 'text', column => column.notNull().defaultTo('latest'))
    .execute()
  await db.schema
    .createIndex('schedules_of_files')
    .on('schedules')
    .column('agent')
    .where('created_by' as never, '=', 'file')
    .execute()
  await db.schema
    .alterTable('events')
    .addColumn('repeats', 'integer', column => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createIndex('events_repeated')
    .on('events')
    .columns(['type', 'key', 'received_at'])
    .execute()
  await db.schema
    .createIndex('schedules_waiting')
    .on('schedules')
    .columns(['status', 'id'])
    .where('wake_on_events_json' as never, '!=', '[]')
    .execute()
}

/** Creates what the hub knows about itself: its runs, and whether it holds the agents. */
async function createKeeping(db: Kysely<unknown>) {
  await db.schema
    .createTable('lives')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('started_at', 'bigint', column => column.notNull())
    .addColumn('outlived', 'integer', column => column.notNull())
    .addColumn('stepped', 'integer', column => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute()
  await db.schema
    .createTable('hub_state')
    .addColumn('key', 'text', column => column.primaryKey())
    .addColumn('value_json', 'text', column => column.notNull())
    .execute()
}
