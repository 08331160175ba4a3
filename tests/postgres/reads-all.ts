/** Statements that read a whole table by their purpose, by a part of their text, and why that is right. */
export const READS_ALL: readonly { part: string; why: string }[] = [
  {
    part: 'and messages.seq = conversations.last_seq',
    why: 'the page lists every conversation, and programs those that were used last',
  },
  {
    part: 'update "threads" set "lease_owner" = $1, "lease_until" = $2 where "lease_owner" is not null',
    why: 'a hub voids the leases of the one before once, when it begins to lead; an index of leases would cost each turn',
  },
  {
    part: 'from "threads" where "status" = $1 and "archived_at" is null order by "kind"',
    why: 'a person lists threads of one status; an index of it would cost each turn',
  },
  {
    part: 'delete from usage_days where day < $1',
    why: 'for the clock of the test that sends it every day is over',
  },
  {
    part: 'from threads group by agent',
    why: 'hub_list_agents counts the threads and cycles of every agent',
  },
  {
    part: `from "schedules" where "status" in () order by "next_run"`,
    why: 'hub_list_schedules lists every schedule that is to come',
  },
  {
    part: 'where "id" > $1 and "created_at" < $2 order by "id" limit',
    why: 'retention looks at every conversation and thread once a day, 50 at a time, between other writes',
  },
  {
    part: 'left join "tool_calls" on "tool_calls"."id" = "audit"."call_id"',
    why: 'a person looks for rows of the audit by what is in them; each call would write into more indexes',
  },
  ...[
    'from cycles where reply_to = $1',
    'from "history" where "content_json" like',
    'from "threads" where "conversation_id" = $1',
    'delete from inbox where conversation_id = $1',
    'delete from "approvals" where "cycle_id" in ()',
    'delete from "dead_letters" where "cycle_id" in ()',
    'owner in (select id from threads where conversation_id',
    'where "conversation_id" = $5',
    'update "schedules" set "conversation_id" = $1',
  ].map(part => ({
    part,
    why: 'a person deletes a conversation for good: whatever may hold some of it is looked at',
  })),
]
