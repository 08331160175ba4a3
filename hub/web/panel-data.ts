import type { AuditRow, AuditVerdict } from '../../schemas/audit.ts'
import type {
  AgentView,
  ListedDeadLetter,
  ListedEvent,
  Schedule,
  ThreadAudit,
  ThreadView,
} from '../../schemas/hub-lists.ts'
import type { HubStatus } from '../../schemas/hub-status.ts'
import type { FoundSession } from '../../schemas/search.ts'
import type { Clock } from './clock.ts'
import { type Mcp, reasonOf } from './mcp.ts'
import { createStore } from './store.ts'

/** Milliseconds without frames about agents, which come in bursts, until the panel reads once. */
const SETTLE = 800

/** Kinds of the audit's rows that are shown: all but calls that only read, of which the page itself makes many. */
const TOLD_KINDS =
  'call approval stop reset chat allowance pin config sign_in token login webhook event start retention'.split(
    ' ',
  )

/** The sources that each tab shows, with the tool and arguments that read them. */
const SOURCES: Record<Tab, Question[]> = {
  now: [
    { source: 'agents', tool: 'hub_list_agents' },
    { source: 'schedules', tool: 'hub_list_schedules' },
    { source: 'status', tool: 'hub_status' },
    { source: 'letters', tool: 'hub_list_dead_letters', args: { status: 'open' } },
  ],
  threads: [{ source: 'threads', tool: 'hub_list_threads' }],
  events: [{ source: 'events', tool: 'hub_list_events', args: { limit: 50 } }],
  search: [],
  audit: [{ source: 'rows', tool: 'hub_list_audit', args: { kinds: TOLD_KINDS, limit: 200 } }],
}

const EMPTY: PanelState = {
  tab: 'now',
  loading: false,
  searching: false,
  agents: null,
  schedules: null,
  status: null,
  letters: null,
  threads: null,
  events: null,
  thread: null,
  audit: null,
  found: null,
  rows: null,
  chain: null,
  errors: {},
}

export type PanelData = ReturnType<typeof createPanelData>

/**
 * Reads the panel's data through `/mcp` while somebody looks at it: on opening and after changes, never by a
 * timer, and only the sources of the open tab. A source that fails reports its error and does not affect the
 * others.
 */
export function createPanelData({ mcp, clock }: { mcp: Pick<Mcp, 'call'>; clock: Clock }) {
  const store = createStore(EMPTY)
  let shown = false
  let running = false
  let again = false
  let searches = 0
  let cancelTimer: (() => void) | undefined

  const put = (part: Partial<PanelState>) => store.set({ ...store.get(), ...part })

  async function read() {
    cancelTimer?.()
    if (running) {
      again = true
      return
    }
    running = true
    again = false
    put({ loading: true })
    const found = await Promise.all(wanted(store.get()).map(one => readOne(mcp, one)))
    running = false
    put({ loading: false })
    take(found)
    if (again && shown) await read()
  }

  /** Stores answers, except audits of a thread that was left meanwhile. */
  function take(found: Answer[]) {
    const { thread, errors } = store.get()
    const fresh = found.filter(one => one.source !== 'audit' || one.of === thread)
    const values = Object.fromEntries(fresh.filter(one => !one.error).map(one => [one.source, one.value]))
    const told = Object.fromEntries(fresh.map(one => [one.source, one.error]))
    put({ ...values, errors: { ...errors, ...told } })
  }

  /** Calls a tool for a person, and shows the result. Throws an McpError where the hub refuses. */
  async function act(tool: string, args: Record<string, unknown> = {}) {
    await mcp.call(tool, args)
    await read()
  }

  return {
    store,
    show(visible: boolean) {
      shown = visible
      if (visible) void read()
      else cancelTimer?.()
    },
    /** Reads again once no more changes come. */
    touch() {
      if (!shown) return
      cancelTimer?.()
      cancelTimer = clock.after(SETTLE, () => void read())
    },
    choose(tab: Tab) {
      if (tab === store.get().tab) return
      put({ tab })
      if (shown) void read()
    },
    /** Opens one thread's audit, or the list of threads. */
    openThread(thread: string | null) {
      put({ tab: 'threads', thread, audit: null, errors: { ...store.get().errors, audit: undefined } })
      if (shown) void read()
    },
    async search(search: Search) {
      searches += 1
      const mine = searches
      put({ searching: true })
      const args = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''))
      const answer = await readOne(mcp, { source: 'found', tool: 'hub_search_history', args })
      if (mine !== searches) return
      take([answer])
      put({ searching: false })
    },
    /** Has the audit's chain checked. */
    async verifyAudit() {
      put({ chain: null })
      take([await readOne(mcp, { source: 'chain', tool: 'hub_verify_audit' })])
    },
    cancelSchedule: (id: string) => act('hub_cancel_schedule', { id }),
    retryLetter: (id: string) => act('hub_retry_dead_letter', { id }),
    discardLetter: (id: string) => act('hub_discard_dead_letter', { id }),
    stopThread: (thread: string) => act('hub_stop', { thread }),
    releaseAgents: () => act('hub_release_agents'),
    retryModel: () => act('hub_retry_model'),
    acceptTools: (server: string) => act('hub_accept_tools', { server }),
  }
}

function wanted({ tab, thread }: PanelState): Question[] {
  if (tab === 'threads' && thread !== null)
    return [{ source: 'audit', tool: 'hub_read_thread', args: { thread }, of: thread }]
  return SOURCES[tab]
}

async function readOne(mcp: Pick<Mcp, 'call'>, question: Question): Promise<Answer> {
  try {
    return { ...question, value: await mcp.call(question.tool, question.args) }
  } catch (error) {
    return { ...question, error: reasonOf(error) }
  }
}

export type Tab = 'now' | 'threads' | 'events' | 'search' | 'audit'
type Source =
  | 'agents'
  | 'schedules'
  | 'status'
  | 'letters'
  | 'threads'
  | 'events'
  | 'audit'
  | 'found'
  | 'rows'
  | 'chain'

export interface Search {
  query: string
  agent: string
  timeframe: string
}

/** A tool's call that reads a source; `of` is the thread of an audit. */
interface Question {
  source: Source
  tool: string
  args?: Record<string, unknown>
  of?: string
}

interface Answer extends Question {
  value?: unknown
  error?: string
}

/** What was read; a source that was not read yet is null. */
interface PanelState {
  tab: Tab
  loading: boolean
  searching: boolean
  agents: { agents: AgentView[] } | null
  schedules: { schedules: Schedule[] } | null
  status: HubStatus | null
  letters: { deadLetters: ListedDeadLetter[] } | null
  threads: { threads: ThreadView[] } | null
  events: { events: ListedEvent[] } | null
  /** Id of the thread whose audit is open. */
  thread: string | null
  audit: ThreadAudit | null
  found: { sessions: FoundSession[] } | null
  /** Newest rows of the hub's audit, and what its last check found. */
  rows: { rows: AuditRow[] } | null
  chain: AuditVerdict | null
  errors: { [source in Source]?: string | undefined }
}
