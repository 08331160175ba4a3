import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openStore } from '../../hub/store/open.ts'
import { openHubProcess } from './hub-process.ts'
import { cpuOf, median, round } from './start/usage.ts'
import { startProvider } from './turn/subjects.ts'

const SHORT = 100
const LONG = 100_000
const ROUNDS = 6
const TURNS = 60

const AGENTS = ['short', 'long'] as const
type AgentName = (typeof AGENTS)[number]

/** Creates threads with this many rows of history, in cycles of two rows; the last 40 rows are the window. */
async function fill(data: string): Promise<void> {
  await (await openStore(data))[Symbol.asyncDispose]()
  const database = new Database(join(data, 'superbloom.db'))
  try {
    const thread = database.prepare(
      "insert into threads (id, agent, kind, status, window_start, last_seq, fence, created_at, updated_at) values (?, ?, 'main', 'sleeping', ?, ?, ?, 1, 1)",
    )
    const row = database.prepare(
      'insert into history (thread_id, seq, cycle_id, step, content_json, created_at) values (?, ?, ?, ?, ?, 1)',
    )
    const cycle = database.prepare(
      "insert into cycles (id, thread_id, status, fence, reply_to, steps, input_tokens, output_tokens, cached_tokens, started_at, ended_at) values (?, ?, 'done', 1, ?, 1, 10, 10, 0, 1, 1)",
    )
    const item = database.prepare(
      "insert into inbox (thread_id, source, external_id, payload_json, conversation_id, created_at, cycle_id) values (?, 'chat', ?, ?, ?, 1, ?)",
    )
    database.transaction(() => {
      for (const [agent, rows] of [
        ['short', SHORT],
        ['long', LONG],
      ] as const) {
        thread.run(`thr_${agent}`, agent, rows - 39, rows, rows)
        for (let seq = 1; seq <= rows; seq += 2) {
          const id = `cyc_${agent}_${seq}`
          const text = `[INBOX - 1 event]\nmessage ${seq}`
          const payload = {
            kind: 'message',
            conversation: agent,
            messageId: `msg_${agent}_${seq}`,
            author: 'owner',
            text,
          }
          cycle.run(id, `thr_${agent}`, agent)
          item.run(`thr_${agent}`, `msg_${agent}_${seq}`, JSON.stringify(payload), agent, id)
          row.run(`thr_${agent}`, seq, id, 0, JSON.stringify({ role: 'user', text, items: [] }))
          row.run(
            `thr_${agent}`,
            seq + 1,
            id,
            1,
            JSON.stringify({ role: 'assistant', text: `answer ${seq}`, calls: [] }),
          )
        }
      }
    })()
  } finally {
    database.close()
  }
}

/** Measures the cost of a cycle in a thread with little and with much history. */
export async function history(): Promise<Record<string, number>> {
  await using provider = await startProvider()
  await using hub = await openHubProcess({ provider: provider.url, agents: AGENTS, prepare: fill })
  const parts: Record<AgentName, { time: number; cpu: number }[]> = { short: [], long: [] }
  for (const agent of AGENTS) await turns(hub, agent, 20)
  for (let round = 0; round < ROUNDS; round++) {
    for (const agent of round % 2 ? [...AGENTS].reverse() : AGENTS) {
      const cpu = cpuOf(hub.pid)
      const times = await turns(hub, agent, TURNS)
      parts[agent].push({ time: median(times), cpu: (cpuOf(hub.pid) - cpu) / TURNS })
    }
  }
  const of = (agent: AgentName, what: 'time' | 'cpu') => median(parts[agent].map(part => part[what]))
  return {
    [`${SHORT} rows of history, p50 ms`]: round(of('short', 'time'), 2),
    [`${LONG} rows of history, p50 ms`]: round(of('long', 'time'), 2),
    'time, ratio (aim at most 1.2)': round(of('long', 'time') / of('short', 'time'), 2),
    [`${SHORT} rows of history, CPU ms`]: round(of('short', 'cpu'), 2),
    [`${LONG} rows of history, CPU ms`]: round(of('long', 'cpu'), 2),
    'CPU, ratio (aim at most 1.2)': round(of('long', 'cpu') / of('short', 'cpu'), 2),
  }
}

async function turns(
  hub: Awaited<ReturnType<typeof openHubProcess>>,
  agent: string,
  count: number,
): Promise<number[]> {
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) times.push(await hub.turn(agent, 'how are you?'))
  return times
}
