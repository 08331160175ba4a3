import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { systemClock } from '../../hub/core/clock.ts'
import { createIds } from '../../hub/core/ids.ts'
import { createLog } from '../../hub/core/log.ts'
import { createSignals } from '../../hub/core/signals.ts'
import { createTelemetry } from '../../hub/core/telemetry.ts'
import { createRouter } from '../../hub/runtime/router.ts'
import { openStore } from '../../hub/store/open.ts'
import { median, round } from './start/usage.ts'

const ROUNDS = 7
const WARM_UP = 500
const ALONE = 1_500
const POSTERS = 64
const CROWD = 6_400

const TEXT = 'how is this machine doing?'
const ids = createIds(systemClock.now)

/** Posts one message as this poster; resolves when it is durable. */
type Post = (poster: number) => Promise<void>

async function rate(count: number, posters: number, post: Post): Promise<number> {
  const began = performance.now()
  const each = count / posters
  await Promise.all(
    Array.from({ length: posters }, async (_, poster) => {
      for (let index = 0; index < each; index++) await post(poster)
    }),
  )
  return (count * 1000) / (performance.now() - began)
}

/** Posts through the hub's router, which acknowledges a message when it is on the disk. */
async function openHub(folder: string, stack: AsyncDisposableStack): Promise<Post> {
  const store = stack.use(await openStore(folder))
  const clock = systemClock
  const log = createLog({ level: 'error', now: clock.now, write: () => undefined })
  const signals = createSignals(error => {
    throw error
  })
  const router = createRouter({
    store,
    clock,
    newId: ids,
    signals,
    telemetry: createTelemetry({ clock, log, signals }),
    agents: () => [
      { name: 'homelab', conversations: ['homelab'], shared: false, events: [], limits: { tasks: 5 } },
    ],
    retired: () => [],
  })
  return async poster => {
    await router.postMessage({
      conversation: `homelab/p${poster}`,
      text: TEXT,
      author: 'owner',
    })
  }
}

/** Makes the same inserts into the same tables by better-sqlite3 alone, `batch` posts in one commit. */
function openBare(folder: string, stack: AsyncDisposableStack, batch: number) {
  const database = stack.adopt(new Database(join(folder, 'superbloom.db')), each => void each.close())
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const next = database.prepare(
    'insert into conversations (id, last_seq, created_at) values (?, 1, ?) on conflict (id) do update set last_seq = last_seq + 1 returning last_seq',
  )
  const message = database.prepare(
    "insert into messages (conversation_id, seq, id, kind, author, text, at) values (?, ?, ?, 'user', 'owner', ?, ?)",
  )
  const item = database.prepare(
    "insert into inbox (thread_id, source, external_id, payload_json, conversation_id, created_at) values ('thr_homelab', 'chat', ?, ?, ?, ?)",
  )
  const commit = database.transaction((first: number) => {
    for (let poster = first; poster < first + batch; poster++) {
      const at = Date.now()
      const id = ids('msg')
      const conversation = `homelab/p${poster}`
      const { last_seq: seq } = next.get(conversation, at) as { last_seq: number }
      message.run(conversation, seq, id, TEXT, at)
      const payload = { kind: 'message', conversation, messageId: id, author: 'owner', text: TEXT }
      item.run(id, JSON.stringify(payload), conversation, at)
    }
  })
  return (count: number) => {
    const began = performance.now()
    for (let done = 0; done < count; done += batch) commit(0)
    return (count * 1000) / (performance.now() - began)
  }
}

/** Measures durable posts per second, beside the same inserts by better-sqlite3 alone. */
export async function inbox(): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  const rates: Record<'hub1' | 'bare1' | 'hub64' | 'bare64', number[]> = {
    hub1: [],
    bare1: [],
    hub64: [],
    bare64: [],
  }
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await using stack = new AsyncDisposableStack()
      const [ours, theirs] = [join(folder, `hub-${round}`), join(folder, `bare-${round}`)]
      for (const each of [ours, theirs]) mkdirSync(each)
      // The plain database gets the same schema.
      await (await openStore(theirs))[Symbol.asyncDispose]()
      const post = await openHub(ours, stack)
      const bareAlone = openBare(theirs, stack, 1)
      const bareCrowd = openBare(theirs, stack, POSTERS)
      await rate(WARM_UP, 1, post)
      bareAlone(WARM_UP)
      rates.hub1.push(await rate(ALONE, 1, post))
      rates.bare1.push(bareAlone(ALONE))
      rates.hub64.push(await rate(CROWD, POSTERS, post))
      rates.bare64.push(bareCrowd(CROWD))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const of = (name: keyof typeof rates) => median(rates[name])
  return {
    '1 poster, superbloom, posts per second': Math.round(of('hub1')),
    '1 poster, better-sqlite3, posts per second': Math.round(of('bare1')),
    '1 poster, part of the bare rate (aim at least 0.7)': round(of('hub1') / of('bare1'), 2),
    '64 posters, superbloom, posts per second': Math.round(of('hub64')),
    '64 posters, better-sqlite3, posts per second': Math.round(of('bare64')),
    '64 posters, times the rate of 1 (aim at least 4)': round(of('hub64') / of('hub1'), 2),
  }
}
