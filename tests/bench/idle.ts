import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openStore } from '../../hub/store/open.ts'
import { taskPrefix } from '../../hub/store/tasks.ts'
import { mainThreadId } from '../../hub/store/threads.ts'
import { openHubProcess } from './hub-process.ts'
import { cpuOf, median, memoryOf, round } from './start/usage.ts'
import { startProvider } from './turn/subjects.ts'

const AGENTS = 1_000
const TASKS = 100_000
const HISTORY = 4
/** Milliseconds; some seconds after the start V8 itself gives memory back. */
const SETTLE_MS = 20_000
const IDLE_MS = 30_000
const WAKES = 40
const FAR = Date.UTC(2100, 0, 1)

const agents = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`)

/** Creates sleeping task threads, each with some history and a wake-up in the far future. */
async function fill(data: string): Promise<void> {
  await (await openStore(data))[Symbol.asyncDispose]()
  const database = new Database(join(data, 'superbloom.db'))
  try {
    database.pragma('synchronous = OFF')
    const thread = database.prepare(
      "insert into threads (id, agent, kind, status, window_start, last_seq, fence, created_at, updated_at, instructions, parent_id, depth) values (?, ?, 'task', 'sleeping', 1, ?, 1, 1, 1, 'watch', ?, 1)",
    )
    const row = database.prepare(
      'insert into history (thread_id, seq, cycle_id, step, content_json, created_at) values (?, ?, ?, ?, ?, 1)',
    )
    const schedule = database.prepare(
      "insert into schedules (id, agent, thread_id, kind, timezone, reason, next_run, wake_on_events_json, status, created_by, created_at) values (?, ?, ?, 'once', 'UTC', 'look again', ?, '[]', 'active', 'agent', 1)",
    )
    const user = JSON.stringify({ role: 'user', text: '[INBOX - 1 event]\nwatch the disks', items: [] })
    const assistant = JSON.stringify({ role: 'assistant', text: 'I look again later.', calls: [] })
    database.transaction(() => {
      for (let index = 0; index < TASKS; index++) {
        const agent = agents[index % AGENTS] ?? ''
        const id = `${taskPrefix(agent)}_${index}`
        thread.run(id, agent, HISTORY, mainThreadId(agent))
        for (let seq = 1; seq <= HISTORY; seq++)
          row.run(id, seq, `cyc_${index}`, 0, seq % 2 ? user : assistant)
        schedule.run(`sch_${index}`, agent, id, FAR + index)
      }
    })()
  } finally {
    database.close()
  }
}

/** Measures 1,000 agents and 100,000 sleeping tasks, beside an empty hub. */
export async function idle(): Promise<Record<string, number>> {
  await using provider = await startProvider()
  await using empty = await openHubProcess({ provider: provider.url, agents: ['homelab'] })
  await using full = await openHubProcess({ provider: provider.url, agents, prepare: fill })
  await pause(SETTLE_MS)
  const memory = { empty: memoryOf(empty.pid).rss, full: memoryOf(full.pid).rss }
  const [cpu, began] = [cpuOf(full.pid), performance.now()]
  await pause(IDLE_MS)
  const used = ((cpuOf(full.pid) - cpu) * 100) / (performance.now() - began)
  const times = { empty: [] as number[], full: [] as number[] }
  for (let count = 0; count < WAKES; count++) {
    times.empty.push(await empty.turn('homelab', 'awake?'))
    times.full.push(await full.turn(agents[count * 7] ?? '', 'awake?'))
  }
  return {
    'empty hub, start to ready, ms': Math.round(empty.readyAfter),
    'full hub, start to ready, ms (aim under 2000)': Math.round(full.readyAfter),
    'empty hub, resident MiB': round(memory.empty, 1),
    'full hub, resident MiB': round(memory.full, 1),
    'full hub over the empty one, MiB (aim under 30)': round(memory.full - memory.empty, 1),
    'CPU over 30 idle seconds, % of a core (aim under 0.2)': round(used, 3),
    'empty hub, a turn of its agent, p50 ms': round(median(times.empty), 1),
    'full hub, a first turn of any agent, p50 ms': round(median(times.full), 1),
    'wakes slower than in the empty hub, ms (aim under 10)': round(
      median(times.full) - median(times.empty),
      1,
    ),
  }
}
