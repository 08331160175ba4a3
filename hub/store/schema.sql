-- What the migrations make on SQLite. A test compares it; write it anew with: vitest run hub/store/open.test.ts -u
CREATE TABLE agents (name text primary key, retired_at bigint, created_at bigint not null);
CREATE TABLE allowances (
  id text primary key, agent text not null, tool text not null, power text not null, reason text not null,
  until bigint not null, created_by text not null, created_at bigint not null, revoked_at bigint);
CREATE INDEX allowances_of on allowances (agent, tool);
CREATE TABLE approval_keys (
  hash text not null, approval_id text not null, created_at bigint not null,
  constraint approval_keys_key primary key (hash)) without rowid;
CREATE INDEX approval_keys_approval on approval_keys (approval_id);
CREATE INDEX approval_keys_created on approval_keys (created_at);
CREATE TABLE approvals (
  id text primary key, call_id text not null unique, thread_id text not null, cycle_id text not null,
  agent text not null, tool text not null, arguments text not null, arguments_hash text not null,
  reason text not null, conversation_id text, status text not null, created_at bigint not null,
  expires_at bigint not null, decided_at bigint, decided_by text, decided_where text, note text,
  answered_at bigint, question_json text, lease_owner text, lease_until bigint, power text default 'routine' not null, number integer not null default 0);
CREATE INDEX approvals_created on approvals (created_at, id);
CREATE INDEX approvals_decided on approvals (decided_at) where decided_at is not null;
CREATE UNIQUE INDEX approvals_number on approvals (number);
CREATE INDEX approvals_status on approvals (status, expires_at);
CREATE INDEX approvals_thread on approvals (thread_id, status);
CREATE INDEX approvals_unanswered on approvals (decided_at) where answered_at is null;
CREATE TRIGGER audit_added after insert on audit begin
  update audit_chain set last_hash = new.hash; end;
CREATE TRIGGER audit_at_end before insert on audit
  when new.seq <= (select removed_seq from audit_chain) or new.seq > (select last_seq from audit_chain)
  or exists (select 1 from audit where seq >= new.seq) begin
  select raise(abort, 'the audit is append-only'); end;
CREATE TRIGGER audit_kept before delete on audit
  when old.seq > (select removed_seq from audit_chain) begin
  select raise(abort, 'the audit is append-only'); end;
CREATE TRIGGER audit_unchanged before update on audit begin
  select raise(abort, 'the audit is append-only'); end;
CREATE TABLE audit (
  seq bigint primary key, at bigint not null, kind text not null, actor text not null, role text, door text,
  power text, tool text, outcome text not null, call_id text, details_json text not null, hash text not null) without rowid;
CREATE TABLE audit_chain (
  last_seq bigint not null, last_hash text not null, removed_seq bigint not null, removed_hash text not null);
CREATE TABLE context (
  scope text not null, owner text not null, key text not null, value text not null,
  updated_at bigint not null, power text default 'person' not null, constraint context_key primary key (scope, owner, key));
CREATE TABLE conversations (
  id text primary key, last_seq bigint not null, created_at bigint not null, title text, pinned integer not null default 0) without rowid;
CREATE TABLE cycles (
  id text primary key, thread_id text not null, status text not null, fence bigint not null,
  reply_to text, steps integer not null, input_tokens bigint not null, output_tokens bigint not null,
  cached_tokens bigint not null, started_at bigint not null, ended_at bigint, note text, attempts integer default 1 not null, cost_micros bigint default 0 not null, model text, parked_at bigint, stop_requested_by text, power text default 'routine' not null, read_foreign integer default 0 not null) without rowid;
CREATE UNIQUE INDEX cycles_running on cycles (thread_id) where status = 'running';
CREATE INDEX cycles_thread on cycles (thread_id, started_at);
CREATE TABLE dead_letters (
  id text primary key, cycle_id text not null, thread_id text not null, agent text not null,
  status text not null, reason text not null, error_json text, retryable integer not null,
  created_at bigint not null, decided_at bigint, decided_by text);
CREATE INDEX dead_letters_created on dead_letters (created_at, id);
CREATE INDEX dead_letters_decided on dead_letters (decided_at) where decided_at is not null;
CREATE INDEX dead_letters_status on dead_letters (status, created_at);
CREATE TABLE event_cursors (server text primary key, stream text not null, cursor bigint not null);
CREATE TABLE event_feed (stream text primary key, last_seq bigint not null);
CREATE TABLE events (
  id text primary key, source text not null, external_id text not null, type text not null,
  key text not null, payload_json text not null, status text not null, routed_to_json text not null,
  note text, at bigint not null, received_at bigint not null, repeats integer default 0 not null, seq bigint default 0 not null, release_at bigint, is_storm integer default 0 not null, power text default 'routine' not null,
  constraint events_once unique (source, external_id));
CREATE INDEX events_due on events (release_at)
  where status = 'held' and release_at is not null;
CREATE INDEX events_received on events (received_at);
CREATE INDEX events_repeated on events (type, key, received_at);
CREATE UNIQUE INDEX events_seq on events (seq);
CREATE INDEX events_status on events (status, received_at, id);
CREATE INDEX events_told on events (type, key, release_at)
  where release_at is not null;
CREATE TABLE files (
  id text primary key not null, author text not null, name text not null, size integer not null,
  content blob not null, text text not null, conversation_id text, message_id text, created_at bigint not null);
CREATE INDEX files_conversation on files (conversation_id);
CREATE INDEX files_created on files (created_at);
CREATE INDEX files_unsent on files (created_at) where message_id is null;
CREATE TABLE history (
  thread_id text not null, seq bigint not null, cycle_id text not null, step integer not null,
  content_json text not null, created_at bigint not null, form text default 'whole' not null,
  constraint history_key primary key (thread_id, seq)) without rowid;
CREATE VIRTUAL TABLE history_search using fts5(
  text, content = 'history_texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE 'history_search_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE 'history_search_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE 'history_search_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'history_search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TRIGGER history_texts_added after insert on history_texts begin
  insert into history_search (rowid, text) values (new.id, new.text); end;
CREATE TRIGGER history_texts_removed after delete on history_texts begin
  insert into history_search (history_search, rowid, text) values ('delete', old.id, old.text); end;
CREATE TABLE history_texts (
  id integer primary key, thread_id text not null, seq bigint not null, created_at bigint not null,
  text text not null, constraint history_texts_place unique (thread_id, seq));
CREATE TABLE hub_state (key text primary key, value_json text not null);
CREATE TABLE inbox (
  seq integer primary key autoincrement, thread_id text not null, source text not null, external_id text not null,
  payload_json text not null, conversation_id text, created_at bigint not null, cycle_id text, unanswered text, power text default 'routine' not null, read_foreign integer default 0 not null);
CREATE INDEX inbox_cycle on inbox (cycle_id) where cycle_id is not null;
CREATE UNIQUE INDEX inbox_once on inbox (source, external_id, thread_id);
CREATE INDEX inbox_unanswered on inbox (thread_id) where unanswered is not null;
CREATE INDEX inbox_waiting on inbox (thread_id, seq) where cycle_id is null;
CREATE TABLE lives (
  id text primary key, started_at bigint not null, outlived integer not null, stepped integer not null,
  ended_at bigint);
CREATE TABLE messages (
  conversation_id text not null, seq bigint not null, id text not null, kind text not null,
  author text not null, text text not null, at bigint not null, token text, client_id text,
  in_reply_to_json text, data_json text, cycle_id text,
  constraint messages_key primary key (conversation_id, seq)) without rowid;
CREATE INDEX messages_cycle on messages (cycle_id) where cycle_id is not null;
CREATE UNIQUE INDEX messages_once on messages (conversation_id, token, client_id)
  where client_id is not null;
CREATE TABLE notifications (
  id text not null, about text not null, state text not null, attempts integer not null, due_at bigint,
  created_at bigint not null, constraint notifications_key primary key (id)) without rowid;
CREATE INDEX notifications_created on notifications (created_at);
CREATE INDEX notifications_due on notifications (due_at) where due_at is not null;
CREATE TABLE oauth (
  kind text not null, hash text not null, related text, payload_json text not null,
  consumed_at bigint, expires_at bigint,
  constraint oauth_key primary key (kind, hash)) without rowid;
CREATE INDEX oauth_expired on oauth (expires_at) where expires_at is not null;
CREATE INDEX oauth_related on oauth (related) where related is not null;
CREATE TABLE people (
  name text not null, role text not null, created_at bigint not null,
  constraint people_key primary key (name)) without rowid;
CREATE TABLE push_subscriptions (
  token_id text not null, endpoint text not null, p256dh text not null, auth text not null,
  created_at bigint not null, constraint push_subscriptions_key primary key (token_id)) without rowid;
CREATE UNIQUE INDEX push_subscriptions_endpoint on push_subscriptions (endpoint);
CREATE TABLE schedules (
  id text primary key, agent text not null, thread_id text not null, kind text not null, cron text,
  timezone text not null, reason text not null, next_run bigint, wake_on_events_json text not null,
  conversation_id text, status text not null, created_by text not null, created_at bigint not null,
  last_run bigint, missed text default 'latest' not null, power text default 'routine' not null, read_foreign integer default 0 not null);
CREATE INDEX schedules_agent on schedules (agent, status);
CREATE INDEX schedules_due on schedules (status, next_run);
CREATE INDEX schedules_fired on schedules (last_run) where last_run is not null;
CREATE INDEX schedules_of_files on schedules (agent) where created_by = 'file';
CREATE INDEX schedules_thread on schedules (thread_id, status, next_run, id);
CREATE INDEX schedules_waiting on schedules (status, id) where wake_on_events_json != '[]';
CREATE TABLE server_eras (server text primary key, verdict_json text not null, at bigint not null);
CREATE TABLE server_logins (
  server text not null, login_json text not null, saved_at bigint not null,
  constraint server_logins_key primary key (server)) without rowid;
CREATE TABLE sessions (
  thread_id text not null, number integer not null, first_seq bigint not null, last_seq bigint not null,
  started_at bigint not null, ended_at bigint not null, messages integer not null,
  tokens bigint not null, reason text not null, summary text not null, summary_by text not null,
  head text, facts_json text, constraint sessions_key primary key (thread_id, number)) without rowid;
CREATE TABLE threads (
  id text primary key, agent text not null, kind text not null, status text not null,
  window_start bigint not null, last_seq bigint not null, lease_owner text, lease_until bigint,
  fence bigint not null, created_at bigint not null, updated_at bigint not null, parent_id text, instructions text, grants_json text, conversation_id text, summary text, not_before bigint, ended_at bigint, archived_at bigint, depth integer default 0 not null, wakes_parent integer default 0 not null, result_json text, power text default 'routine' not null) without rowid;
CREATE INDEX threads_agent on threads (agent, kind, created_at desc, id desc);
CREATE INDEX threads_ended on threads (ended_at) where (ended_at is not null and archived_at is null);
CREATE INDEX threads_later on threads (not_before) where not_before is not null;
CREATE INDEX threads_listed on threads (kind, created_at desc, id desc);
CREATE INDEX threads_parent on threads (parent_id, status) where parent_id is not null;
CREATE TABLE tokens (
  id text not null, name text not null, role text not null, kind text not null,
  tools_json text, hash text not null, created_at bigint not null, expires_at bigint,
  last_used_at bigint, ended_at bigint,
  constraint tokens_key primary key (id)) without rowid;
CREATE UNIQUE INDEX tokens_by_hash on tokens (hash);
CREATE TABLE tool_calls (
  id text primary key, thread_id text not null, cycle_id text not null, step integer not null,
  position integer not null, call_id text not null, tool text not null, arguments text not null,
  status text not null, result_json text, created_at bigint not null, started_at bigint, ended_at bigint, arguments_hash text default '' not null, approval_id text,
  constraint tool_calls_place unique (cycle_id, step, position)) without rowid;
CREATE INDEX tool_calls_doubtful on tool_calls (thread_id, tool) where status = 'unknown';
CREATE TABLE tool_pins (
  server text not null, tool text not null, class text not null, parts_json text not null,
  seen_class text not null, seen_json text not null, first_seen_at bigint not null,
  risen_to text, risen_at bigint,
  constraint tool_pins_key primary key (server, tool)) without rowid;
CREATE TABLE usage_days (
  day text not null, agent text not null, tokens bigint not null, cost_micros bigint not null,
  wakes bigint not null, constraint usage_days_key primary key (day, agent)) without rowid;
