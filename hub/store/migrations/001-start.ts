import type { Kysely } from 'kysely'
import type { Dialect } from '../dialect.ts'

/**
 * Creates the nouns of the hub: agents, threads, inbox, cycles, history, ledger, context, schedules, events,
 * conversations.
 */
export async function up(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await createAgents(db, dialect)
  await createInbox(db, dialect)
  await createCycles(db, dialect)
  await createMemory(db)
  await createEvents(db)
  await createConversations(db, dialect)
}

async function createAgents(db: Kysely<unknown>, dialect: Dialect) {
  await db.schema
    .createTable('agents')
    .addColumn('name', 'text', column => column.primaryKey())
    .addColumn('retired_at', 'bigint')
    .addColumn('created_at', 'bigint', column => column.notNull())
    .execute()
  await db.schema
    .createTable('threads')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('agent', 'text', column => column.notNull())
    .addColumn('kind', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('window_start', 'bigint', column => column.notNull())
    .addColumn('last_seq', 'bigint', column => column.notNull())
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('fence', 'bigint', column => column.notNull())
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addColumn('updated_at', 'bigint', column => column.notNull())
    .$call(dialect.clustered)
    .execute()
  await db.schema.createIndex('threads_agent').on('threads').columns(['agent', 'kind']).execute()
}

async function createInbox(db: Kysely<unknown>, dialect: Dialect) {
  await db.schema
    .createTable('inbox')
    .addColumn('seq', dialect.serialType, dialect.serialColumn)
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('source', 'text', column => column.notNull())
    .addColumn('external_id', 'text', column => column.notNull())
    .addColumn('payload_json', 'text', column => column.notNull())
    .addColumn('conversation_id', 'text')
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addColumn('cycle_id', 'text')
    .execute()
  await db.schema
    .createIndex('inbox_once')
    .on('inbox')
    .columns(['source', 'external_id', 'thread_id'])
    .unique()
    .execute()
  await db.schema
    .createIndex('inbox_waiting')
    .on('inbox')
    .columns(['thread_id', 'seq'])
    .where('cycle_id' as never, 'is', null)
    .execute()
  await db.schema
    .createIndex('inbox_cycle')
    .on('inbox')
    .column('cycle_id')
    .where('cycle_id' as never, 'is not', null)
    .execute()
}

async function createCycles(db: Kysely<unknown>, dialect: Dialect) {
  await db.schema
    .createTable('cycles')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('fence', 'bigint', column => column.notNull())
    .addColumn('reply_to', 'text')
    .addColumn('steps', 'integer', column => column.notNull())
    .addColumn('input_tokens', 'bigint', column => column.notNull())
    .addColumn('output_tokens', 'bigint', column => column.notNull())
    .addColumn('cached_tokens', 'bigint', column => column.notNull())
    .addColumn('started_at', 'bigint', column => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('note', 'text')
    .$call(dialect.clustered)
    .execute()
  await db.schema.createIndex('cycles_thread').on('cycles').columns(['thread_id', 'started_at']).execute()
  await db.schema
    .createIndex('cycles_running')
    .on('cycles')
    .column('thread_id')
    .unique()
    .where('status' as never, '=', 'running')
    .execute()
  await db.schema
    .createTable('history')
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('seq', 'bigint', column => column.notNull())
    .addColumn('cycle_id', 'text', column => column.notNull())
    .addColumn('step', 'integer', column => column.notNull())
    .addColumn('content_json', 'text', column => column.notNull())
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addPrimaryKeyConstraint('history_key', ['thread_id', 'seq'])
    .$call(dialect.clustered)
    .execute()
  await db.schema
    .createTable('tool_calls')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('cycle_id', 'text', column => column.notNull())
    .addColumn('step', 'integer', column => column.notNull())
    .addColumn('position', 'integer', column => column.notNull())
    .addColumn('call_id', 'text', column => column.notNull())
    .addColumn('tool', 'text', column => column.notNull())
    .addColumn('arguments', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('result_json', 'text')
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addUniqueConstraint('tool_calls_place', ['cycle_id', 'step', 'position'])
    .$call(dialect.clustered)
    .execute()
}

async function createMemory(db: Kysely<unknown>) {
  await db.schema
    .createTable('context')
    .addColumn('scope', 'text', column => column.notNull())
    .addColumn('owner', 'text', column => column.notNull())
    .addColumn('key', 'text', column => column.notNull())
    .addColumn('value', 'text', column => column.notNull())
    .addColumn('updated_at', 'bigint', column => column.notNull())
    .addPrimaryKeyConstraint('context_key', ['scope', 'owner', 'key'])
    .execute()
  await db.schema
    .createTable('schedules')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('agent', 'text', column => column.notNull())
    .addColumn('thread_id', 'text', column => column.notNull())
    .addColumn('kind', 'text', column => column.notNull())
    .addColumn('cron', 'text')
    .addColumn('timezone', 'text', column => column.notNull())
    .addColumn('reason', 'text', column => column.notNull())
    .addColumn('next_run', 'bigint')
    .addColumn('wake_on_events_json', 'text', column => column.notNull())
    .addColumn('conversation_id', 'text')
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('created_by', 'text', column => column.notNull())
    .addColumn('created_at', 'bigint', column => column.notNull())
    .addColumn('last_run', 'bigint')
    .execute()
  await db.schema.createIndex('schedules_due').on('schedules').columns(['status', 'next_run']).execute()
  await db.schema
    .createIndex('schedules_thread')
    .on('schedules')
    .columns(['thread_id', 'status', 'next_run', 'id'])
    .execute()
}

async function createEvents(db: Kysely<unknown>) {
  await db.schema
    .createTable('events')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('source', 'text', column => column.notNull())
    .addColumn('external_id', 'text', column => column.notNull())
    .addColumn('type', 'text', column => column.notNull())
    .addColumn('key', 'text', column => column.notNull())
    .addColumn('payload_json', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('routed_to_json', 'text', column => column.notNull())
    .addColumn('note', 'text')
    .addColumn('at', 'bigint', column => column.notNull())
    .addColumn('received_at', 'bigint', column => column.notNull())
    .addUniqueConstraint('events_once', ['source', 'external_id'])
    .execute()
  await db.schema.createIndex('events_received').on('events').column('received_at').execute()
  await db.schema
    .createTable('event_cursors')
    .addColumn('server', 'text', column => column.primaryKey())
    .addColumn('stream', 'text', column => column.notNull())
    .addColumn('cursor', 'bigint', column => column.notNull())
    .execute()
  await db.schema
    .createTable('server_eras')
    .addColumn('server', 'text', column => column.primaryKey())
    .addColumn('verdict_json', 'text', column => column.notNull())
    .addColumn('at', 'bigint', column => column.notNull())
    .execute()
}

async function createConversations(db: Kysely<unknown>, dialect: Dialect) {
  await db.schema
    .createTable('conversations')
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('last_seq', 'bigint', column => column.notNull())
    .addColumn('created_at', 'bigint', column => column.notNull())
    .$call(dialect.clustered)
    .execute()
  await db.schema
    .createTable('messages')
    .addColumn('conversation_id', 'text', column => column.notNull())
    .addColumn('seq', 'bigint', column => column.notNull())
    .addColumn('id', 'text', column => column.notNull())
    .addColumn('kind', 'text', column => column.notNull())
    .addColumn('author', 'text', column => column.notNull())
    .addColumn('text', 'text', column => column.notNull())
    .addColumn('at', 'bigint', column => column.notNull())
    .addColumn('token', 'text')
    .addColumn('client_id', 'text')
    .addColumn('in_reply_to_json', 'text')
    .addColumn('data_json', 'text')
    .addColumn('cycle_id', 'text')
    .addPrimaryKeyConstraint('messages_key', ['conversation_id', 'seq'])
    .$call(dialect.clustered)
    .execute()
  await db.schema
    .createIndex('messages_once')
    .on('messages')
    .columns(['conversation_id', 'token', 'client_id'])
    .unique()
    .where('client_id' as never, 'is not', null)
    .execute()
  await db.schema
    .createIndex('messages_cycle')
    .on('messages')
    .column('cycle_id')
    .where('cycle_id' as never, 'is not', null)
    .execute()
}
