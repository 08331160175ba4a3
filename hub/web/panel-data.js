/** @import { Clock, Mcp } from './types.d.ts' */
/** @import { DeadLetter, EventSeen, FoundSession, HubStatus, ListedAgent, Schedule, ThreadAudit, ThreadListed } from './panel-types.d.ts' */
import { createStore } from './store.js'

/** Milliseconds without frames about agents, which come in bursts, until the panel reads once. */
const SETTLE = 800

/**
 * The sources that each tab shows, with the tool and arguments that read them.
 * @type {Record<Tab, Partial<Record<Source, [string, object?]>>>}
 */
const SOURCES = {
  now: {
    agents: ['hub_list_agents'],
    schedules: ['hub_list_schedules'],
    status: ['hub_status'],
    letters: ['hub_list_dead_letters', { status: 'open' }],
  },
  threads: { threads: ['hub_list_threads'] },
  events: { events: ['hub_list_events', { limit: 50 }] },
  search: {},
}

/** @type {PanelState} */
const EMPTY = {
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
  errors: {},
}

/**
 * Reads the panel's data through `/mcp` while somebody looks at it: on opening and after changes, never by a
 * timer, and only the sources of the open tab. A source that fails reports its error and does not affect the
 * others.
 * @param {object} parts
 * @param {Pick<Mcp, 'call'>} parts.mcp
 * @param {Clock} parts.clock
 */
export function createPanelData({ mcp, clock }) {
  const store = createStore(EMPTY)
  let shown = false
  let running = false
  let again = false
  let searches = 0
  /** @type {(() => void) | undefined} */
  let cancelTimer

  /** @param {Partial<PanelState>} part */
  const put = part => store.set({ ...store.get(), ...part })

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

  /** Stores answers, except audits of a thread that was left meanwhile. @param {Answer[]} found */
  function take(found) {
    const { thread, errors } = store.get()
    const fresh = found.filter(one => one.source !== 'audit' || one.of === thread)
    const values = Object.fromEntries(fresh.filter(one => !one.error).map(one => [one.source, one.value]))
    const told = Object.fromEntries(fresh.map(one => [one.source, one.error]))
    put({ ...values, errors: { ...errors, ...told } })
  }

  /**
   * Calls a tool for a person, and shows the result. Throws an McpError where the hub refuses.
   * @param {string} tool @param {object} [args]
   */
  async function act(tool, args) {
    await mcp.call(tool, { ...args })
    await read()
  }

  return {
    store,
    /** @param {boolean} visible */
    show(visible) {
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
    /** @param {Tab} tab */
    choose(tab) {
      if (tab === store.get().tab) return
      put({ tab })
      if (shown) void read()
    },
    /** Opens one thread's audit, or the list of threads. @param {string | null} thread */
    openThread(thread) {
      put({ tab: 'threads', thread, audit: null, errors: { ...store.get().errors, audit: undefined } })
      if (shown) void read()
    },
    /** @param {Search} search */
    async search(search) {
      searches += 1
      const mine = searches
      put({ searching: true })
      const args = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''))
      const answer = await readOne(mcp, { source: 'found', tool: 'hub_search_history', args })
      if (mine !== searches) return
      take([answer])
      put({ searching: false })
    },
    /** @param {string} id */
    cancelSchedule: id => act('hub_cancel_schedule', { id }),
    /** @param {string} id */
    retryLetter: id => act('hub_retry_dead_letter', { id }),
    /** @param {string} id */
    discardLetter: id => act('hub_discard_dead_letter', { id }),
    /** @param {string} thread */
    stopThread: thread => act('hub_stop', { thread }),
    releaseAgents: () => act('hub_release_agents'),
  }
}

/** @param {PanelState} state @returns {Question[]} */
function wanted({ tab, thread }) {
  if (tab === 'threads' && thread !== null)
    return [{ source: 'audit', tool: 'hub_read_thread', args: { thread }, of: thread }]
  return Object.entries(SOURCES[tab]).map(([source, [tool, args]]) => ({
    source: /** @type {Source} */ (source),
    tool,
    args,
  }))
}

/** @param {Pick<Mcp, 'call'>} mcp @param {Question} question @returns {Promise<Answer>} */
async function readOne(mcp, { source, tool, args, of }) {
  try {
    return { source, of, value: await mcp.call(tool, args && { ...args }) }
  } catch (error) {
    return { source, of, error: error instanceof Error ? error.message : String(error) }
  }
}

/** @typedef {'now' | 'threads' | 'events' | 'search'} Tab */
/** @typedef {'agents' | 'schedules' | 'status' | 'letters' | 'threads' | 'events' | 'audit' | 'found'} Source */
/** @typedef {{source: Source, tool: string, args?: object, of?: string}} Question */
/** @typedef {{source: Source, of?: string, value?: unknown, error?: string}} Answer */
/** @typedef {{query: string, agent: string, timeframe: string}} Search */
/**
 * @typedef {object} PanelState a source that was not read yet is null
 * @property {Tab} tab
 * @property {boolean} loading
 * @property {boolean} searching
 * @property {{agents: ListedAgent[]} | null} agents
 * @property {{schedules: Schedule[]} | null} schedules
 * @property {HubStatus | null} status
 * @property {{deadLetters: DeadLetter[]} | null} letters
 * @property {{threads: ThreadListed[]} | null} threads
 * @property {{events: EventSeen[]} | null} events
 * @property {string | null} thread id of the thread whose audit is open
 * @property {ThreadAudit | null} audit
 * @property {{sessions: FoundSession[]} | null} found
 * @property {Partial<Record<Source, string>>} errors
 */
