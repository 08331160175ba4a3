import type { HistoryContent } from '../../schemas/inbox.ts'
import { checkAudit } from './check-audit.ts'
import { checkDatabase } from './check-database.ts'
import type { World } from './world.ts'

/** The parts of a world that the checks look at: the person, the tool server, and the database of an idle hub. */
export type Observed = Pick<World, 'person' | 'tools' | 'schedules' | 'rows'>

interface HistoryRow {
  thread: string
  seq: number
  cycle: string
  content: HistoryContent
}

interface CallRow {
  id: string
  call_id: string
  thread_id: string
  cycle_id: string
  tool: string
  status: string
}

/** The contents of the database, and the records of the programs around an idle hub. */
interface Evidence {
  world: Observed
  history: HistoryRow[]
  calls: CallRow[]
  cycles: ReadonlyMap<string, string>
  /** The cycle that read each message. */
  takenBy: ReadonlyMap<string, string>
  messages: {
    conversation_id: string
    seq: number
    id: string
    kind: string
    in_reply_to_json: string | null
  }[]
}

/** Returns the broken promises in words; call it when no work is left. */
export function findProblems(world: Observed): string[] {
  const evidence = gather(world)
  return [
    ...world.person.problems,
    ...checkDatabase(world),
    ...checkAudit(world),
    ...checkMessages(evidence),
    ...checkConversations(evidence),
    ...checkCalls(evidence),
    ...checkPairs(evidence),
    ...checkWakes(evidence),
    ...checkEvents(evidence),
    ...checkCycles(evidence),
    ...checkSessions(evidence),
    ...checkApprovals(evidence),
    ...checkTasks(evidence),
  ]
}

function gather(world: Observed): Evidence {
  const { rows } = world
  const stored = rows<{ thread_id: string; seq: number; cycle_id: string; content_json: string }>(
    'select thread_id, seq, cycle_id, content_json from history order by thread_id, seq',
  )
  const taken = rows<{ external_id: string; cycle_id: string }>(
    "select external_id, cycle_id from inbox where source = 'chat' and cycle_id is not null",
  )
  const cycles = rows<{ id: string; status: string }>('select id, status from cycles')
  return {
    world,
    history: stored.map(row => ({
      thread: row.thread_id,
      seq: row.seq,
      cycle: row.cycle_id,
      content: JSON.parse(row.content_json) as HistoryContent,
    })),
    calls: rows('select id, call_id, thread_id, cycle_id, tool, status from tool_calls'),
    cycles: new Map(cycles.map(({ id, status }) => [id, status])),
    takenBy: new Map(taken.map(row => [row.external_id, row.cycle_id])),
    messages: rows(
      'select conversation_id, seq, id, kind, in_reply_to_json from messages order by conversation_id, seq',
    ),
  }
}

/** Returns the items of a kind in the history, with their threads. */
function itemsOf({ history }: Evidence, kind: string) {
  return history.flatMap(({ thread, content }) =>
    content.role === 'user'
      ? content.items.filter(item => item.kind === kind).map(item => ({ ...item, thread }))
      : [],
  )
}

function countBy<Value>(values: readonly Value[], toKey: (value: Value) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(toKey(value), (counts.get(toKey(value)) ?? 0) + 1)
  return counts
}

/**
 * Checks promises 1 and 2: an accepted message is answered or in the dead letters, and is in the history
 * once.
 */
function checkMessages(evidence: Evidence): string[] {
  const { world, cycles, takenBy, messages } = evidence
  const told = countBy(itemsOf(evidence, 'message'), item => item.text)
  const answered = new Set<string>()
  for (const { kind, in_reply_to_json } of messages) {
    if (kind !== 'agent' && kind !== 'notice') continue
    for (const id of JSON.parse(in_reply_to_json ?? '[]') as string[]) answered.add(id)
  }
  const shown = new Set(world.person.shown.all.map(({ id }) => id))
  return world.person.wishes.flatMap(({ text, accepted }) => {
    const [line = ''] = text.split('\n', 1)
    if (!accepted) return [`"${line}" was never accepted`]
    const isDead = cycles.get(takenBy.get(accepted.id) ?? '') === 'dead'
    return [
      ...(told.get(text) === 1 || isDead
        ? []
        : [`"${line}" stands ${told.get(text) ?? 0} times in the history`]),
      ...(answered.has(accepted.id) || isDead ? [] : [`"${line}" was not answered`]),
      ...(shown.has(accepted.id) ? [] : [`"${line}" was not shown in its conversation`]),
    ]
  })
}

/** Checks that every conversation has no gap, and that the person was shown exactly the stored messages. */
function checkConversations({ world, messages }: Evidence): string[] {
  const shown = Map.groupBy(world.person.shown.all, message => message.conversation)
  return [...Map.groupBy(messages, message => message.conversation_id)].flatMap(([conversation, stored]) => [
    ...(stored.every(({ seq }, index) => seq === index + 1)
      ? []
      : [`${conversation}: its sequence has a gap`]),
    ...(stored.map(({ id }) => id).join() === (shown.get(conversation) ?? []).map(({ id }) => id).join()
      ? []
      : [`${conversation}: what was shown is not what is stored`]),
  ])
}

/**
 * Checks promise 3: a call that changes something ran at most once, and the model is told if the outcome is
 * unknown.
 */
function checkCalls(evidence: Evidence): string[] {
  const effects = countBy(evidence.world.tools.effects.all, ({ key }) => key)
  const byId = countBy(evidence.world.tools.effects.all, ({ tool, id }) => `${tool} ${id}`)
  const repeated = [...byId].filter(([what, count]) => !what.startsWith('look ') && count > 1)
  const unpaid = evidence.world.tools.effects.all.filter(
    ({ key }) => !evidence.calls.some(({ id }) => id === key),
  )
  return [
    ...repeated.map(([what, count]) => `${what} was done ${count} times`),
    ...unpaid.map(({ tool, id }) => `${tool} ${id} was done and is not in the ledger`),
    ...evidence.calls.flatMap(call => checkCall(evidence, call, effects.get(call.id) ?? 0)),
  ]
}

const SERVER_TOOLS: ReadonlySet<string> = new Set(['change', 'guard', 'look'])

function checkCall({ history, cycles }: Evidence, call: CallRow, effects: number): string[] {
  const name = `${call.tool} ${call.call_id}`
  const isOfServer = SERVER_TOOLS.has(call.tool)
  if (call.status === 'ok') return isOfServer && effects === 0 ? [`${name} is ok and was never done`] : []
  if (cycles.get(call.cycle_id) === 'dead') return []
  if (call.status !== 'unknown') return [`${name} is ${call.status} at the end`]
  if (call.tool !== 'change' && call.tool !== 'guard') return [`${name} only reads and is unknown`]
  const wasTold = history.some(
    ({ thread, content }) =>
      thread === call.thread_id &&
      (content.role === 'tool'
        ? content.callId === call.call_id && /unknown/i.test(content.text)
        : toldOfApproval(content, call)),
  )
  return wasTold ? [] : [`${name} is unknown and the model was not told`]
}

/** Checks that every call has its result before the next message. */
function checkPairs({ history }: Evidence): string[] {
  const problems: string[] = []
  let open: { thread: string; ids: Set<string> } | undefined
  for (const { thread, seq, content } of history) {
    const place = `${thread}, row ${seq}`
    if (content.role === 'tool') {
      if (open?.thread !== thread || !open.ids.delete(content.callId))
        problems.push(`${place}: a result without its call`)
      continue
    }
    if (open && open.ids.size > 0) problems.push(`${place}: before it ${[...open.ids]} got no result`)
    open =
      content.role === 'assistant' ? { thread, ids: new Set(content.calls.map(({ id }) => id)) } : undefined
  }
  if (open && open.ids.size > 0) problems.push(`The last calls ${[...open.ids]} got no result`)
  return problems
}

/** Checks promise 7: every wake-up fired once, and no occurrence of a cron fired twice. */
function checkWakes(evidence: Evidence): string[] {
  const wakes = itemsOf(evidence, 'wake')
  const once = countBy(
    wakes.filter(({ text }) => text !== 'mark-second'),
    ({ text }) => text,
  )
  const seconds = countBy(
    wakes.filter(({ text }) => text === 'mark-second'),
    ({ thread, origin }) => `${thread}: ${origin}`,
  )
  const asked = evidence.calls
    .filter(({ tool, status }) => tool === 'schedule_wake' && status === 'ok')
    .map(({ call_id }) => call_id.replace(/^call_/, ''))
  return [
    ...[...evidence.world.schedules, ...asked]
      .filter(mark => !once.has(`mark-${mark}`))
      .map(mark => `The schedule ${mark} never fired`),
    ...[...once, ...seconds]
      .filter(([, count]) => count > 1)
      .map(([what, count]) => `${what} fired ${count} times`),
  ]
}

/** Checks that each event reached each subscribed thread once. */
function checkEvents(evidence: Evidence): string[] {
  const items = itemsOf(evidence, 'event')
  return evidence.world.tools.raised.flatMap(mark =>
    ['thr_alpha', 'thr_beta'].flatMap(thread => {
      const count = items.filter(item => item.thread === thread && item.text.includes(`"${mark}"`)).length
      return count === 1 ? [] : [`The event ${mark} stands ${count} times in ${thread}`]
    }),
  )
}

/** Checks promise 4: only cycles in the dead letters were given up. */
function checkCycles({ cycles, world }: Evidence): string[] {
  const lettered = new Set(
    world.rows<{ cycle_id: string }>('select cycle_id from dead_letters').map(row => row.cycle_id),
  )
  return [...cycles].flatMap(([id, status]) => {
    if (status === 'done' || (status === 'dead' && lettered.has(id))) return []
    return [`The cycle ${id} is ${status}`]
  })
}

/** Checks promise 8: sessions and the window follow each other without a gap, and the history is complete. */
function checkSessions({ world, history }: Evidence): string[] {
  const sessions = world.rows<{ thread: string; first_seq: number; last_seq: number; start: number }>(
    `select thread_id as thread, first_seq, sessions.last_seq as last_seq, window_start as start
     from sessions join threads on id = thread_id order by thread_id, number`,
  )
  return [...Map.groupBy(sessions, ({ thread }) => thread)].flatMap(([thread, own]) => {
    const bounds = own.flatMap(({ first_seq, last_seq }) => [first_seq, last_seq])
    const joined = bounds.every(
      (seq, index) => index === 0 || index % 2 === 1 || seq === (bounds[index - 1] ?? 0) + 1,
    )
    const rows = history.filter(row => row.thread === thread)
    return [
      ...(joined && bounds[0] === 1
        ? []
        : [`${thread}: its sessions do not follow on each other: ${bounds}`]),
      ...(own.at(-1)?.start === (bounds.at(-1) ?? 0) + 1
        ? []
        : [`${thread}: its window does not follow on its sessions`]),
      ...(rows.every(({ seq }, index) => seq === index + 1) ? [] : [`${thread}: its history has a gap`]),
    ]
  })
}

/** Tells whether this is the item with the outcome of a call that waited for an approval. */
function toldOfApproval(content: HistoryContent, { call_id }: CallRow): boolean {
  if (content.role !== 'user') return false
  const id = call_id.replace(/^call_/, '')
  return content.items.some(
    ({ kind, text }) => kind === 'approval' && text.includes(`"${id}"`) && /unknown/i.test(text),
  )
}

/** Checks that the requesting thread got the outcome of each approval once. */
function checkApprovals(evidence: Evidence): string[] {
  const told = countBy(itemsOf(evidence, 'approval'), ({ origin }) => origin.split(':')[0] ?? '')
  const approvals = evidence.world.rows<{ id: string; status: string }>('select id, status from approvals')
  return approvals.flatMap(({ id, status }) => {
    const times = told.get(`Approval ${id}`) ?? 0
    return [
      ...(status === 'approved' ? [] : [`The approval ${id} is ${status}`]),
      ...(times === 1 ? [] : [`The end of the approval ${id} was told ${times} times`]),
    ]
  })
}

/** Checks that each task ended, and that its parent was told once. */
function checkTasks(evidence: Evidence): string[] {
  const items = itemsOf(evidence, 'task')
  const tasks = evidence.world.rows<{ id: string; status: string }>(
    "select id, status from threads where kind = 'task'",
  )
  return tasks.flatMap(({ id, status }) => {
    const times = items.filter(({ origin }) => origin.startsWith(`Task ${id} `)).length
    return [
      ...(status === 'complete' || status === 'failed' ? [] : [`The task ${id} is ${status}`]),
      ...(times === 1 ? [] : [`The end of the task ${id} was told ${times} times`]),
    ]
  })
}
