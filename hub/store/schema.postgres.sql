-- What the migrations make on PostgreSQL. A test compares it; write it anew with: npm run test:postgres -- tests/postgres/store.test.ts -u
create table agents (
  name text collate "C" not null,
  retired_at bigint,
  created_at bigint not null,
  constraint agents_pkey PRIMARY KEY (name)
);
create table allowances (
  id text collate "C" not null,
  agent text collate "C" not null,
  tool text collate "C" not null,
  power text collate "C" not null,
  reason text collate "C" not null,
  until bigint not null,
  created_by text collate "C" not null,
  created_at bigint not null,
  revoked_at bigint,
  constraint allowances_pkey PRIMARY KEY (id)
);
create table approval_keys (
  hash text collate "C" not null,
  approval_id text collate "C" not null,
  created_at bigint not null,
  constraint approval_keys_key PRIMARY KEY (hash)
);
create table approvals (
  id text collate "C" not null,
  call_id text collate "C" not null,
  thread_id text collate "C" not null,
  cycle_id text collate "C" not null,
  agent text collate "C" not null,
  tool text collate "C" not null,
  arguments text collate "C" not null,
  arguments_hash text collate "C" not null,
  reason text collate "C" not null,
  conversation_id text collate "C",
  status text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  decided_at bigint,
  decided_by text collate "C",
  decided_where text collate "C",
  note text collate "C",
  answered_at bigint,
  question_json text collate "C",
  lease_owner text collate "C",
  lease_until bigint,
  power text collate "C" not null default 'routine'::text,
  number integer not null default 0,
  constraint approvals_call_id_key UNIQUE (call_id),
  constraint approvals_pkey PRIMARY KEY (id)
);
create table audit (
  seq bigint not null,
  at bigint not null,
  kind text collate "C" not null,
  actor text collate "C" not null,
  role text collate "C",
  door text collate "C",
  power text collate "C",
  tool text collate "C",
  outcome text collate "C" not null,
  call_id text collate "C",
  details_json text collate "C" not null,
  hash text collate "C" not null,
  constraint audit_pkey PRIMARY KEY (seq)
);
create table audit_chain (
  last_seq bigint not null,
  last_hash text collate "C" not null,
  removed_seq bigint not null,
  removed_hash text collate "C" not null
);
create table context (
  scope text collate "C" not null,
  owner text collate "C" not null,
  key text collate "C" not null,
  value text collate "C" not null,
  updated_at bigint not null,
  power text collate "C" not null default 'person'::text,
  constraint context_key PRIMARY KEY (scope, owner, key)
);
create table conversations (
  id text collate "C" not null,
  last_seq bigint not null,
  created_at bigint not null,
  title text collate "C",
  pinned integer not null default 0,
  constraint conversations_pkey PRIMARY KEY (id)
);
create table cycles (
  id text collate "C" not null,
  thread_id text collate "C" not null,
  status text collate "C" not null,
  fence bigint not null,
  reply_to text collate "C",
  steps integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  started_at bigint not null,
  ended_at bigint,
  note text collate "C",
  attempts integer not null default 1,
  cost_micros bigint not null default 0,
  model text collate "C",
  parked_at bigint,
  stop_requested_by text collate "C",
  power text collate "C" not null default 'routine'::text,
  read_foreign integer not null default 0,
  constraint cycles_pkey PRIMARY KEY (id)
);
create table dead_letters (
  id text collate "C" not null,
  cycle_id text collate "C" not null,
  thread_id text collate "C" not null,
  agent text collate "C" not null,
  status text collate "C" not null,
  reason text collate "C" not null,
  error_json text collate "C",
  retryable integer not null,
  created_at bigint not null,
  decided_at bigint,
  decided_by text collate "C",
  constraint dead_letters_pkey PRIMARY KEY (id)
);
create table event_cursors (
  server text collate "C" not null,
  stream text collate "C" not null,
  cursor bigint not null,
  constraint event_cursors_pkey PRIMARY KEY (server)
);
create table event_feed (
  stream text collate "C" not null,
  last_seq bigint not null,
  constraint event_feed_pkey PRIMARY KEY (stream)
);
create table events (
  id text collate "C" not null,
  source text collate "C" not null,
  external_id text collate "C" not null,
  type text collate "C" not null,
  key text collate "C" not null,
  payload_json text collate "C" not null,
  status text collate "C" not null,
  routed_to_json text collate "C" not null,
  note text collate "C",
  at bigint not null,
  received_at bigint not null,
  repeats integer not null default 0,
  seq bigint not null default 0,
  release_at bigint,
  is_storm integer not null default 0,
  power text collate "C" not null default 'routine'::text,
  constraint events_once UNIQUE (source, external_id),
  constraint events_pkey PRIMARY KEY (id)
);
create table files (
  id text collate "C" not null,
  author text collate "C" not null,
  name text collate "C" not null,
  size integer not null,
  content bytea not null,
  text text collate "C" not null,
  conversation_id text collate "C",
  message_id text collate "C",
  created_at bigint not null,
  constraint files_pkey PRIMARY KEY (id)
);
create table history (
  thread_id text collate "C" not null,
  seq bigint not null,
  cycle_id text collate "C" not null,
  step integer not null,
  content_json text collate "C" not null,
  created_at bigint not null,
  form text collate "C" not null default 'whole'::text,
  constraint history_key PRIMARY KEY (thread_id, seq)
);
create table history_texts (
  id bigint not null generated as identity,
  thread_id text collate "C" not null,
  seq bigint not null,
  created_at bigint not null,
  text tsvector not null,
  constraint history_texts_pkey PRIMARY KEY (id),
  constraint history_texts_place UNIQUE (thread_id, seq)
);
create table hub_state (
  key text collate "C" not null,
  value_json text collate "C" not null,
  constraint hub_state_pkey PRIMARY KEY (key)
);
create table inbox (
  seq bigint not null generated as identity,
  thread_id text collate "C" not null,
  source text collate "C" not null,
  external_id text collate "C" not null,
  payload_json text collate "C" not null,
  conversation_id text collate "C",
  created_at bigint not null,
  cycle_id text collate "C",
  unanswered text collate "C",
  power text collate "C" not null default 'routine'::text,
  read_foreign integer not null default 0,
  constraint inbox_pkey PRIMARY KEY (seq)
);
create table leader (
  one integer not null,
  epoch integer not null,
  holder text collate "C" not null,
  url text collate "C" not null,
  files text collate "C",
  until timestamp with time zone not null,
  constraint leader_one_check CHECK ((one = 1)),
  constraint leader_pkey PRIMARY KEY (one)
);
create table leader_fence (
  epoch integer not null
);
create table lives (
  id text collate "C" not null,
  started_at bigint not null,
  outlived integer not null,
  stepped integer not null,
  ended_at bigint,
  constraint lives_pkey PRIMARY KEY (id)
);
create table messages (
  conversation_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  kind text collate "C" not null,
  author text collate "C" not null,
  text text collate "C" not null,
  at bigint not null,
  token text collate "C",
  client_id text collate "C",
  in_reply_to_json text collate "C",
  data_json text collate "C",
  cycle_id text collate "C",
  constraint messages_key PRIMARY KEY (conversation_id, seq)
);
create table notifications (
  id text collate "C" not null,
  about text collate "C" not null,
  state text collate "C" not null,
  attempts integer not null,
  due_at bigint,
  created_at bigint not null,
  constraint notifications_key PRIMARY KEY (id)
);
create table oauth (
  kind text collate "C" not null,
  hash text collate "C" not null,
  related text collate "C",
  payload_json text collate "C" not null,
  consumed_at bigint,
  expires_at bigint,
  constraint oauth_key PRIMARY KEY (kind, hash)
);
create table people (
  name text collate "C" not null,
  role text collate "C" not null,
  created_at bigint not null,
  constraint people_key PRIMARY KEY (name)
);
create table push_subscriptions (
  token_id text collate "C" not null,
  endpoint text collate "C" not null,
  p256dh text collate "C" not null,
  auth text collate "C" not null,
  created_at bigint not null,
  constraint push_subscriptions_key PRIMARY KEY (token_id)
);
create table schedules (
  id text collate "C" not null,
  agent text collate "C" not null,
  thread_id text collate "C" not null,
  kind text collate "C" not null,
  cron text collate "C",
  timezone text collate "C" not null,
  reason text collate "C" not null,
  next_run bigint,
  wake_on_events_json text collate "C" not null,
  conversation_id text collate "C",
  status text collate "C" not null,
  created_by text collate "C" not null,
  created_at bigint not null,
  last_run bigint,
  missed text collate "C" not null default 'latest'::text,
  power text collate "C" not null default 'routine'::text,
  read_foreign integer not null default 0,
  constraint schedules_pkey PRIMARY KEY (id)
);
create table server_eras (
  server text collate "C" not null,
  verdict_json text collate "C" not null,
  at bigint not null,
  constraint server_eras_pkey PRIMARY KEY (server)
);
create table server_logins (
  server text collate "C" not null,
  login_json text collate "C" not null,
  saved_at bigint not null,
  constraint server_logins_key PRIMARY KEY (server)
);
create table sessions (
  thread_id text collate "C" not null,
  number integer not null,
  first_seq bigint not null,
  last_seq bigint not null,
  started_at bigint not null,
  ended_at bigint not null,
  messages integer not null,
  tokens bigint not null,
  reason text collate "C" not null,
  summary text collate "C" not null,
  summary_by text collate "C" not null,
  head text collate "C",
  facts_json text collate "C",
  constraint sessions_key PRIMARY KEY (thread_id, number)
);
create table threads (
  id text collate "C" not null,
  agent text collate "C" not null,
  kind text collate "C" not null,
  status text collate "C" not null,
  window_start bigint not null,
  last_seq bigint not null,
  lease_owner text collate "C",
  lease_until bigint,
  fence bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  parent_id text collate "C",
  instructions text collate "C",
  grants_json text collate "C",
  conversation_id text collate "C",
  summary text collate "C",
  not_before bigint,
  ended_at bigint,
  archived_at bigint,
  depth integer not null default 0,
  wakes_parent integer not null default 0,
  result_json text collate "C",
  power text collate "C" not null default 'routine'::text,
  constraint threads_pkey PRIMARY KEY (id)
);
create table tokens (
  id text collate "C" not null,
  name text collate "C" not null,
  role text collate "C" not null,
  kind text collate "C" not null,
  tools_json text collate "C",
  hash text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  ended_at bigint,
  constraint tokens_key PRIMARY KEY (id)
);
create table tool_calls (
  id text collate "C" not null,
  thread_id text collate "C" not null,
  cycle_id text collate "C" not null,
  step integer not null,
  "position" integer not null,
  call_id text collate "C" not null,
  tool text collate "C" not null,
  arguments text collate "C" not null,
  status text collate "C" not null,
  result_json text collate "C",
  created_at bigint not null,
  started_at bigint,
  ended_at bigint,
  arguments_hash text collate "C" not null default ''::text,
  approval_id text collate "C",
  constraint tool_calls_pkey PRIMARY KEY (id),
  constraint tool_calls_place UNIQUE (cycle_id, step, "position")
);
create table tool_pins (
  server text collate "C" not null,
  tool text collate "C" not null,
  class text collate "C" not null,
  parts_json text collate "C" not null,
  seen_class text collate "C" not null,
  seen_json text collate "C" not null,
  first_seen_at bigint not null,
  risen_to text collate "C",
  risen_at bigint,
  constraint tool_pins_key PRIMARY KEY (server, tool)
);
create table usage_days (
  day text collate "C" not null,
  agent text collate "C" not null,
  tokens bigint not null,
  cost_micros bigint not null,
  wakes bigint not null,
  constraint usage_days_key PRIMARY KEY (day, agent)
);
CREATE INDEX allowances_of ON public.allowances USING btree (agent, tool);
CREATE INDEX approval_keys_approval ON public.approval_keys USING btree (approval_id);
CREATE INDEX approval_keys_created ON public.approval_keys USING btree (created_at);
CREATE INDEX approvals_created ON public.approvals USING btree (created_at, id);
CREATE INDEX approvals_decided ON public.approvals USING btree (decided_at) WHERE (decided_at IS NOT NULL);
CREATE UNIQUE INDEX approvals_number ON public.approvals USING btree (number);
CREATE INDEX approvals_status ON public.approvals USING btree (status, expires_at);
CREATE INDEX approvals_thread ON public.approvals USING btree (thread_id, status);
CREATE INDEX approvals_unanswered ON public.approvals USING btree (decided_at) WHERE (answered_at IS NULL);
CREATE UNIQUE INDEX cycles_running ON public.cycles USING btree (thread_id) WHERE (status = 'running'::text);
CREATE INDEX cycles_thread ON public.cycles USING btree (thread_id, started_at);
CREATE INDEX dead_letters_created ON public.dead_letters USING btree (created_at, id);
CREATE INDEX dead_letters_decided ON public.dead_letters USING btree (decided_at) WHERE (decided_at IS NOT NULL);
CREATE INDEX dead_letters_status ON public.dead_letters USING btree (status, created_at);
CREATE INDEX events_due ON public.events USING btree (release_at) WHERE ((status = 'held'::text) AND (release_at IS NOT NULL));
CREATE INDEX events_received ON public.events USING btree (received_at);
CREATE INDEX events_repeated ON public.events USING btree (type, key, received_at);
CREATE UNIQUE INDEX events_seq ON public.events USING btree (seq);
CREATE INDEX events_status ON public.events USING btree (status, received_at, id);
CREATE INDEX events_told ON public.events USING btree (type, key, release_at) WHERE (release_at IS NOT NULL);
CREATE INDEX files_conversation ON public.files USING btree (conversation_id);
CREATE INDEX files_created ON public.files USING btree (created_at);
CREATE INDEX files_unsent ON public.files USING btree (created_at) WHERE (message_id IS NULL);
CREATE INDEX history_search ON public.history_texts USING gin (text);
CREATE INDEX inbox_cycle ON public.inbox USING btree (cycle_id) WHERE (cycle_id IS NOT NULL);
CREATE UNIQUE INDEX inbox_once ON public.inbox USING btree (source, external_id, thread_id);
CREATE INDEX inbox_unanswered ON public.inbox USING btree (thread_id) WHERE (unanswered IS NOT NULL);
CREATE INDEX inbox_waiting ON public.inbox USING btree (thread_id, seq) WHERE (cycle_id IS NULL);
CREATE INDEX messages_cycle ON public.messages USING btree (cycle_id) WHERE (cycle_id IS NOT NULL);
CREATE UNIQUE INDEX messages_once ON public.messages USING btree (conversation_id, token, client_id) WHERE (client_id IS NOT NULL);
CREATE INDEX notifications_created ON public.notifications USING btree (created_at);
CREATE INDEX notifications_due ON public.notifications USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX oauth_expired ON public.oauth USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX oauth_related ON public.oauth USING btree (related) WHERE (related IS NOT NULL);
CREATE UNIQUE INDEX push_subscriptions_endpoint ON public.push_subscriptions USING btree (endpoint);
CREATE INDEX schedules_agent ON public.schedules USING btree (agent, status);
CREATE INDEX schedules_due ON public.schedules USING btree (status, next_run);
CREATE INDEX schedules_fired ON public.schedules USING btree (last_run) WHERE (last_run IS NOT NULL);
CREATE INDEX schedules_of_files ON public.schedules USING btree (agent) WHERE (created_by = 'file'::text);
CREATE INDEX schedules_thread ON public.schedules USING btree (thread_id, status, next_run, id);
CREATE INDEX schedules_waiting ON public.schedules USING btree (status, id) WHERE (wake_on_events_json <> '[]'::text);
CREATE INDEX threads_agent ON public.threads USING btree (agent, kind, created_at DESC, id DESC);
CREATE INDEX threads_ended ON public.threads USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (archived_at IS NULL));
CREATE INDEX threads_later ON public.threads USING btree (not_before) WHERE (not_before IS NOT NULL);
CREATE INDEX threads_listed ON public.threads USING btree (kind, created_at DESC, id DESC);
CREATE INDEX threads_parent ON public.threads USING btree (parent_id, status) WHERE (parent_id IS NOT NULL);
CREATE UNIQUE INDEX tokens_by_hash ON public.tokens USING btree (hash);
CREATE INDEX tool_calls_doubtful ON public.tool_calls USING btree (thread_id, tool) WHERE (status = 'unknown'::text);
CREATE OR REPLACE FUNCTION public.audit_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin update audit_chain set last_hash = new.hash; return null; end $function$
;
CREATE OR REPLACE FUNCTION public.audit_at_end()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin if new.seq <= (select removed_seq from audit_chain) or new.seq > (select last_seq from audit_chain)
    or exists (select 1 from audit where seq > new.seq) then raise exception 'the audit is append-only'; end if; return null; end $function$
;
CREATE OR REPLACE FUNCTION public.audit_kept()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin if old.seq > (select removed_seq from audit_chain) then raise exception 'the audit is append-only'; end if; return null; end $function$
;
CREATE OR REPLACE FUNCTION public.audit_unchanged()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin raise exception 'the audit is append-only'; return null; end $function$
;
CREATE TRIGGER audit_added AFTER INSERT ON public.audit FOR EACH ROW EXECUTE FUNCTION audit_added();
CREATE TRIGGER audit_at_end AFTER INSERT ON public.audit FOR EACH ROW EXECUTE FUNCTION audit_at_end();
CREATE TRIGGER audit_kept AFTER DELETE ON public.audit FOR EACH ROW EXECUTE FUNCTION audit_kept();
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION audit_unchanged();
