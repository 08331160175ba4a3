/** @import { Clock } from './types.d.ts' */
import { createStore } from './store.js'

/** Frames about agents come in bursts; the panel reads once after them. */
const SETTLE = 800

/** What the panel shows, and the tool that tells it. */
const SOURCES = { agents: 'hub_list_agents', schedules: 'hub_list_schedules', status: 'hub_status' }

/**
 * The panel's figures, read through `/mcp` while somebody looks at them: on opening, after changes, never by
 * the clock. Each source that fails says so and leaves the others alone.
 * @param {object} parts
 * @param {{call: (name: string, args?: Record<string, unknown>) => Promise<any>}} parts.mcp
 * @param {Clock} parts.clock
 */
export function createPanelData({ mcp, clock }) {
  const store = createStore({
    loading: false,
    at: 0,
    agents: null,
    schedules: null,
    status: null,
    errors: {},
  })
  let shown = false
  let running = false
  let again = false
  /** @type {(() => void) | undefined} */
  let cancelTimer

  async function read() {
    cancelTimer?.()
    if (running) {
      again = true
      return
    }
    running = true
    store.set({ ...store.get(), loading: true })
    const found = await Promise.all(Object.entries(SOURCES).map(([key, tool]) => readOne(mcp, key, tool)))
    running = false
    const values = Object.fromEntries(found.filter(one => !one.error).map(one => [one.key, one.value]))
    const errors = Object.fromEntries(found.filter(one => one.error).map(one => [one.key, one.error]))
    store.set({ ...store.get(), ...values, errors, loading: false, at: clock.now() })
    if (again && shown) {
      again = false
      await read()
    }
  }

  return {
    store,
    /** @param {boolean} visible */
    show(visible) {
      shown = visible
      if (visible) void read()
      else cancelTimer?.()
    },
    /** Something changed: read again, once it is quiet. */
    touch() {
      if (!shown) return
      cancelTimer?.()
      cancelTimer = clock.after(SETTLE, () => void read())
    },
    /** Throws an McpError where the hub refuses. @param {string} id */
    async cancelSchedule(id) {
      await mcp.call('hub_cancel_schedule', { id })
      await read()
    },
  }
}

/** @param {{call: (name: string) => Promise<any>}} mcp @param {string} key @param {string} tool */
async function readOne(mcp, key, tool) {
  try {
    return { key, value: await mcp.call(tool) }
  } catch (error) {
    return { key, error: error instanceof Error ? error.message : String(error) }
  }
}
