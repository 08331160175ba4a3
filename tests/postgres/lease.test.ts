import pg from 'pg'
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import { openPostgres } from '../../hub/store/open.ts'
import { type LeadOptions, openLease, type Standby } from '../../hub/store/postgres-lease.ts'
import { leadAlone, makeDatabase, server } from '../support/test-database.ts'
import { createRecord } from '../support/until.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server

/** A hub that does not renew its lease, like one that was killed or is paused. */
const DEAD: Clock = { ...systemClock, after: () => () => undefined }

async function openWorld() {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await makeDatabase(at))
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  stack.defer(() => client.end())
  const standbys = createRecord<Standby>()
  const optionsOf = (id: string, more: Partial<LeadOptions> = {}): LeadOptions => ({
    ...leadAlone(),
    id,
    url: () => `http://${id}`,
    onStandby: async standby => standbys.add(standby),
    ...more,
  })
  const opened = stack.move()
  return {
    database,
    standbys,
    optionsOf,
    open: (id: string, more?: Partial<LeadOptions>) => openLease(database.url, optionsOf(id, more)),
    ask: async (text: string) => (await client.query(text)).rows,
    /** Lets the lease of a hub that renews it no more be over, without the wait. */
    endLease: () => client.query('update leader set until = clock_timestamp()'),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

test('of two hubs that start at once one leads, and the other as soon as it ends in order', async () => {
  await using world = await openWorld()
  const starts = [world.open('a'), world.open('b')]
  const first = await Promise.race(starts.map(async (start, index) => ({ lease: await start, index })))
  const { why } = await world.standbys.find('the other waits', () => true)
  expect(why).toBe('led')
  await first.lease[Symbol.asyncDispose]()
  await using next = await starts[1 - first.index]
  await next?.confirm()
})

test('a hub that is gone is followed once its lease is over by the clock of the database', async () => {
  await using world = await openWorld()
  const asked = systemClock.monotonic()
  await using gone = await world.open('a', { clock: DEAD })
  await using next = await world.open('b')
  expect(systemClock.monotonic() - asked).toBeGreaterThan(14_000)
  expect(await world.ask(gone.fence)).toEqual([])
  expect(await world.ask(next.fence)).toHaveLength(1)
})

test.each([
  ['the time of day', { now: () => systemClock.now() + 3_600_000 }],
  ['the time of day, back', { now: () => systemClock.now() - 3_600_000 }],
  ['the monotonic clock', { monotonic: () => systemClock.monotonic() + 60_000 }],
] as const)(
  'promise 5: a hub that was paused, by %s, asks before it acts, and finds another that leads',
  async (_which, jumped) => {
    await using world = await openWorld()
    const clock = { ...DEAD }
    const told = createRecord<string>()
    await using paused = await world.open('a', { clock, onTaken: why => told.add(why) })
    await paused.confirm()
    await world.endLease()
    await using next = await world.open('b')
    // Nothing tells it yet: it believes that its lease lasts.
    await paused.confirm()
    Object.assign(clock, jumped)
    await expect(paused.confirm()).rejects.toThrow(/Another hub leads/)
    expect(told.all).toEqual([paused.findLoss()])
    await expect(paused.confirm()).rejects.toThrow(/Another hub leads/)
    await next.confirm()
  },
)

test('a paused hub that nobody followed goes on', async () => {
  await using world = await openWorld()
  const clock = { ...DEAD }
  await using paused = await world.open('a', { clock })
  await world.endLease()
  clock.monotonic = () => systemClock.monotonic() + 60_000
  await paused.confirm()
  expect(await world.ask(paused.fence)).toHaveLength(1)
})

test('a hub with other files does not follow one that crashed, unless it is told to', async () => {
  await using world = await openWorld()
  await using crashed = await world.open('a', { clock: DEAD })
  await world.endLease()
  const stopping = new AbortController()
  const other = world.open('b', { files: () => 'others', signal: stopping.signal })
  expect(await world.standbys.find('it says why', ({ why }) => why === 'other_files')).toEqual({
    why: 'other_files',
    url: 'http://a',
  })
  stopping.abort(new Error('stopped'))
  await expect(other).rejects.toThrow('stopped')
  await using accepted = await world.open('b', { files: () => 'others', acceptFiles: true })
  await accepted.confirm()
  expect(await world.ask(crashed.fence)).toEqual([])
})

test('the next process of the same data folder leads at once, whatever its files are; so does any after an end in order', async () => {
  await using world = await openWorld()
  await using crashed = await world.open('a', { clock: DEAD })
  const again = await world.open('a', { files: () => 'changed' })
  expect(await world.ask(crashed.fence)).toEqual([])
  await again[Symbol.asyncDispose]()
  await using other = await world.open('b', { files: () => 'others' })
  await other.confirm()
})

test('promise 5: a commit of a hub that leads no more writes nothing, and the hub is told', async () => {
  await using world = await openWorld()
  const told = createRecord<string>()
  const old = world.optionsOf('a', { clock: DEAD, onTaken: why => told.add(why) })
  await using store = await openPostgres(world.database.url, old)
  const add = (name: string) =>
    store.write(tx => tx.insertInto('agents').values({ name, retired_at: null, created_at: 1 }).execute())
  await add('before')
  await world.endLease()
  await using next = await world.open('b')
  await next.confirm()
  await expect(add('after')).rejects.toMatchObject({ name: 'StoreFault', kind: 'unreachable' })
  expect(told.all).toHaveLength(1)
  expect(store.findProblem()).toBe(told.all[0])
  await expect(store.confirm()).rejects.toThrow(/Another hub leads/)
  expect(await world.ask('select name from agents')).toEqual([{ name: 'before' }])
})

test('nobody takes the lead in the midst of a transaction, and one that a paused hub left open is ended', async () => {
  await using world = await openWorld()
  await using store = await openPostgres(world.database.url, world.optionsOf('a', { clock: DEAD }))
  const paused = Promise.withResolvers<void>()
  const written = store.write(async tx => {
    await tx.insertInto('agents').values({ name: 'cut', retired_at: null, created_at: 1 }).execute()
    await world.endLease()
    await paused.promise
    await tx.selectFrom('agents').selectAll().execute()
  })
  const failed = expect(written).rejects.toMatchObject({ name: 'StoreFault' })
  await using next = await world.open('b')
  await next.confirm()
  paused.resolve()
  await failed
  expect(await world.ask('select name from agents')).toEqual([])
})

test('a renewal that the database refuses is made again, over a new connection', async () => {
  await using world = await openWorld()
  const clock = { ...systemClock }
  await using lease = await world.open('a', { clock })
  await world.ask(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
  clock.monotonic = () => systemClock.monotonic() + 60_000
  await lease.confirm().catch(() => lease.confirm())
  expect(lease.findLoss()).toBeUndefined()
})
