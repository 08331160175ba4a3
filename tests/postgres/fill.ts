import type pg from 'pg'

/** Tables that grow with what agents and people do; the others hold what somebody has set up. */
export const GROWING: readonly string[] = [
  ...['threads', 'inbox', 'cycles', 'history', 'history_texts', 'sessions', 'tool_calls', 'context'],
  ...['conversations', 'messages', 'files', 'notifications', 'schedules', 'events', 'usage_days'],
  ...['approvals', 'approval_keys', 'dead_letters', 'audit'],
]

/** Time of the filling, far ahead of the tests' clocks, so that for them nothing is due yet, or old. */
const NOW = Date.UTC(2100, 0, 1)

/** Agents whose main threads and tasks fill the store; `homelab` is one, as in most tests. */
const AGENTS = 1_000
/** Rows per thread in ten. */
const NAMES = `(select i, case when i % ${AGENTS} = 0 then 'homelab' else 'agent-' || i % ${AGENTS} end as agent
  from generate_series(0, $threads - 1) as i) as each`
const THREAD = `case when i < ${AGENTS} then 'thr_' || agent else 'thr_' || agent || '.task_' || i end`
const CONVERSATION = `case when i < ${AGENTS} then agent else agent || '/c' || i end`
/** Milliseconds at which the row of a thread was made: within the month before yesterday, one after the other. */
const AT = '($now - 86400000 - 2500000000 / $threads * ($threads - i))'
const CYCLE = "'cyc_' || lpad(i::text, 25, '0')"

const FILLS: readonly string[] = [
  `insert into agents (name, created_at) select agent, 1 from ${NAMES} where i < ${AGENTS}`,
  `insert into threads (id, agent, kind, status, window_start, last_seq, fence, created_at, updated_at,
      parent_id, instructions, depth)
    select ${THREAD}, agent, case when i < ${AGENTS} then 'main' else 'task' end, 'sleeping', 1, $history, 1, ${AT}, ${AT},
      case when i >= ${AGENTS} then 'thr_' || agent end, case when i >= ${AGENTS} then 'watch the disks' end,
      case when i < ${AGENTS} then 0 else 1 end from ${NAMES}`,
  `insert into schedules (id, agent, thread_id, kind, timezone, reason, next_run, wake_on_events_json, status,
      created_by, created_at)
    select 'sch_' || lpad(i::text, 25, '0'), agent, ${THREAD}, 'once', 'UTC', 'look again', $now + 86400000 + 60000::bigint * i, '[]',
      'active', 'agent', ${AT} from ${NAMES}`,
  `insert into cycles (id, thread_id, status, fence, reply_to, steps, input_tokens, output_tokens, cached_tokens,
      started_at, ended_at, model)
    select ${CYCLE}, ${THREAD}, 'done', 1, ${CONVERSATION}, 1, 3000, 50, 2000, ${AT}, ${AT} + 2000, 'openai/large' from ${NAMES}`,
  `insert into inbox (thread_id, source, external_id, payload_json, conversation_id, created_at, cycle_id)
    select ${THREAD}, 'chat', 'msg_' || lpad(i::text, 25, '0'), '{"kind":"message","text":"how are the disks?"}', ${CONVERSATION},
      ${AT}, ${CYCLE} from ${NAMES}`,
  `insert into history (thread_id, seq, cycle_id, step, content_json, created_at)
    select ${THREAD}, seq, ${CYCLE}, 1, '{"role":"assistant","text":"I look again later.","calls":[]}', ${AT}
    from ${NAMES}, generate_series(1, $history) as seq`,
  `insert into conversations (id, last_seq, created_at) select ${CONVERSATION}, $messages, ${AT} from ${NAMES}`,
  `insert into messages (conversation_id, seq, id, kind, author, text, at, token, client_id, cycle_id)
    select ${CONVERSATION}, seq, 'msg_' || lpad(i::text, 24, '0') || seq, case when seq % 2 = 1 then 'user' else 'agent' end, 'owner',
      'how are the disks?', ${AT}, 'owner', case when seq % 2 = 1 then 'c' || i || seq end, case when seq % 2 = 0 then ${CYCLE} end
    from ${NAMES}, generate_series(1, $messages) as seq`,
  `insert into tool_calls (id, thread_id, cycle_id, step, position, call_id, tool, arguments, status, result_json,
      created_at, started_at, ended_at)
    select 'cal_' || lpad(i::text, 25, '0'), ${THREAD}, ${CYCLE}, 1, 0, 'call_1', 'metrics__get_disks', '{}', 'ok', '{}', ${AT}, ${AT}, ${AT}
    from ${NAMES} where i % 2 = 0`,
  `insert into sessions (thread_id, number, first_seq, last_seq, started_at, ended_at, messages, tokens, reason, summary, summary_by)
    select ${THREAD}, 1, 1, 2, ${AT}, ${AT}, 2, 100, 'idle', 'The disks are fine.', 'extract' from ${NAMES} where i % 10 = 0`,
  `insert into history_texts (thread_id, seq, created_at, text)
    select ${THREAD}, 1, ${AT}, ('''disk'':1 ''word' || i % 5000 || ''':2')::tsvector from ${NAMES} where i % 10 = 0`,
  `insert into context (scope, owner, key, value, updated_at)
    select 'thread', ${THREAD}, 'disk', 'sda', ${AT} from ${NAMES} where i % 5 = 0`,
  `insert into events (id, source, external_id, type, key, payload_json, status, routed_to_json, at, received_at, seq)
    select 'evt_' || lpad(i::text, 25, '0'), 'metrics', 'e' || i, 'disk_full', 'disk' || i % 1000, '{}', 'handled', '[]', ${AT}, ${AT}, i + 1
    from ${NAMES}`,
  'update event_feed set last_seq = $threads',
  `insert into audit (seq, at, kind, actor, role, door, power, tool, outcome, call_id, details_json, hash)
    select i + 1, ${AT}, 'call', 'agent:' || agent, null, null, 'routine', 'metrics__get_disks', 'ok', 'cal_' || lpad(i::text, 25, '0'),
      '{}', md5(i::text) || md5(i::text) from ${NAMES}`,
  'update audit_chain set last_seq = $threads, last_hash = (select hash from audit order by seq desc limit 1)',
  `insert into approvals (id, call_id, thread_id, cycle_id, agent, tool, arguments, arguments_hash, reason, conversation_id,
      status, created_at, expires_at, decided_at, decided_by, answered_at, number)
    select 'apr_' || lpad(i::text, 25, '0'), 'cal_' || lpad(i::text, 25, '0'), ${THREAD}, ${CYCLE}, agent, 'games__stop_server', '{}', 'hash',
      'destructive', ${CONVERSATION}, 'approved', ${AT}, ${AT}, ${AT}, 'owner', ${AT}, i / 20 + 1 from ${NAMES} where i % 20 = 0`,
  `insert into approval_keys (hash, approval_id, created_at)
    select md5(i::text), 'apr_' || lpad(i::text, 25, '0'), ${AT} from ${NAMES} where i % 40 = 0`,
  `insert into dead_letters (id, cycle_id, thread_id, agent, status, reason, retryable, created_at, decided_at)
    select 'dlt_' || lpad(i::text, 25, '0'), ${CYCLE}, ${THREAD}, agent, 'discarded', 'provider', 1, ${AT}, ${AT} from ${NAMES} where i % 20 = 0`,
  `insert into notifications (id, about, state, attempts, due_at, created_at)
    select 'apr_' || lpad(i::text, 25, '0'), 'approval', 'sent', 1, null, ${AT} from ${NAMES} where i % 20 = 0`,
  `insert into files (id, author, name, size, content, text, conversation_id, message_id, created_at)
    select 'fil_' || lpad(i::text, 25, '0'), 'owner', 'disks.txt', 3, 'abc', 'abc', ${CONVERSATION}, 'msg_' || i, ${AT} from ${NAMES} where i % 20 = 0`,
  `insert into usage_days (day, agent, tokens, cost_micros, wakes)
    select to_char(now() - (i / 100) * interval '1 day', 'YYYY-MM-DD'), agent, 1000, 10, 1 from ${NAMES}`,
]

/** Runs `work` without the indexes that no constraint needs: to make them afterwards takes less time than to keep them. */
async function withoutIndexes(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `
    select indexname as name, indexdef as definition from pg_indexes where schemaname = current_schema()
      and tablename = any($1) and not exists (select 1 from pg_constraint where conindid = indexname::regclass)`,
    [GROWING],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await work()
  for (const { definition } of rows) await client.query(definition)
}

/**
 * Fills an empty store with sleeping threads, each with a schedule, an inbox, a cycle, a conversation and rows of
 * history and messages, and with what else a hub keeps.
 */
export async function fill(
  client: pg.Client,
  size: { threads: number; history: number; messages: number },
): Promise<void> {
  const sizes: Record<string, number> = { ...size, now: NOW }
  // The audit's triggers are for one row at a time; what is stored here is thrown away.
  await client.query('set session_replication_role = replica')
  for (const table of GROWING) await client.query(`alter table ${table} set unlogged`)
  await withoutIndexes(client, async () => {
    for (const statement of FILLS)
      await client.query(statement.replaceAll(/\$([a-z]+)/g, (_, name: string) => `${sizes[name]}::bigint`))
  })
  await client.query('set session_replication_role = origin')
  await client.query('vacuum analyze')
}
