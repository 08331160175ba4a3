import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import type { Program } from '../support/program.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { makeDatabase, server } from '../support/test-database.ts'
import { until } from '../support/until.ts'
import { makeMachine } from './machine.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server
/** `SUPERBLOOM_TEST_ROUNDS=200` makes the long run: each round takes up to 15 s. */
const ROUNDS = Number(process.env['SUPERBLOOM_TEST_ROUNDS'] ?? 3)
const WAYS = ['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const

type Machine = Awaited<ReturnType<typeof makeMachine>>
interface Running {
  machine: Machine
  hub: Program
}

const isLeading = async ({ machine }: Running) => {
  const answer = await machine.get('/readyz').catch(() => undefined)
  return answer?.status === 200
}

/** Posts messages to a hub that may end meanwhile; returns the client ids of those that were accepted. */
async function post({ machine }: Running, ids: readonly string[]): Promise<string[]> {
  const chat = await openChat(machine.hub).catch(() => undefined)
  if (!chat) return []
  using open = chat
  const closed = new Promise<void>(resolve => open.socket.once('close', () => resolve()))
  for (const clientId of ids)
    open.send({ type: 'message', conversation: 'homelab', text: `message ${clientId}`, clientId })
  const accepted = () =>
    open.frames.all.flatMap(frame => (frame.type === 'accepted' ? (frame.clientId ?? []) : []))
  const all = until('all are accepted', () => accepted().length === ids.length)
  await Promise.race([closed, all.catch(() => undefined)])
  return accepted()
}

test(`promises 1 to 5: three hubs take over from each other, ${ROUNDS} times, with nothing lost and nothing twice`, {
  timeout: 120_000 + ROUNDS * 90_000,
}, async () => {
  await using database = await makeDatabase(at)
  using folder = makeTempFolder()
  await using stack = new AsyncDisposableStack()
  const accepted: string[] = []
  const epochs: number[] = []
  const running: Running[] = []
  for (const name of ['one', 'two', 'three']) {
    const machine = await makeMachine(database.url, { path: join(folder.path, name) })
    running.push({ machine, hub: stack.use(await machine.start()) })
  }
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  stack.defer(() => client.end())
  const ask = async (text: string) => (await client.query(text)).rows
  const findLeader = (others = running) =>
    until('a hub leads', async () => {
      for (const each of others) if (await isLeading(each)) return each
      return undefined
    })
  for (let round = 0; round < ROUNDS; round++) {
    const leader = await findLeader()
    epochs.push((await ask('select epoch from leader'))[0].epoch)
    const ids = [0, 1, 2, 3, 4].map(each => `${round}-${each}`)
    const posting = post(leader, ids)
    if (round % 2 === 0) accepted.push(...(await posting))
    const how = WAYS[round % WAYS.length] ?? 'SIGKILL'
    leader.hub.signal(how, how === 'SIGKILL' ? 'group' : 'alone')
    await findLeader(running.filter(each => each !== leader))
    if (how === 'SIGSTOP') leader.hub.signal('SIGCONT')
    await leader.hub.ended
    if (round % 2 === 1) accepted.push(...(await posting))
    leader.hub = stack.use(await leader.machine.start())
  }
  const last = await findLeader()
  accepted.push(...(await post(last, ['last'])))
  await until('all is answered', async () => {
    const [{ open }] = await ask(
      'select count(*)::int as open from inbox where cycle_id is null or unanswered is not null',
    )
    return open === 0
  })
  const stored = await ask(
    'select client_id, count(*)::int as times from messages where client_id is not null group by client_id',
  )
  expect(stored.filter(({ times }) => times > 1)).toEqual([])
  expect(stored.map(row => row.client_id)).toEqual(expect.arrayContaining(accepted))
  expect(accepted).toContain('last')
  const answered = await ask(`select answered, count(*)::int as times from
      (select jsonb_array_elements_text(in_reply_to_json::jsonb) as answered from messages where kind = 'agent') as each
      group by answered`)
  expect(answered.filter(({ times }) => times > 1)).toEqual([])
  expect(answered).toHaveLength(stored.length)
  expect(await ask('select * from dead_letters')).toEqual([])
  // Each lead has a number above that of the one before.
  expect(epochs).toEqual([...new Set(epochs)].sort((one, other) => one - other))
})
