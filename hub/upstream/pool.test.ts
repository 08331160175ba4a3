import { afterEach, beforeEach, expect, test } from 'vitest'
import { odd } from '../../tests/support/downstream.ts'
import { isRunning, untilNoChildren } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'
import { childEnvironment } from '../config/environment.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { Pool, type Requestable } from './pool.ts'
import type { ServerSpec } from './server-spec.ts'

const CALL_TIMEOUT_MS = 120_000
const LONGEST_DRAIN_MS = 24 * 60 * 60_000

const spec = (...modes: string[]): ServerSpec => ({
  name: 'lamp',
  origin: 'config',
  prefix: '',
  transport: { kind: 'stdio', env: childEnvironment(), ...odd(...modes).entry },
})

let pool: Pool
/** Timers of CALL_TIMEOUT_MS and LONGEST_DRAIN_MS, which fire when a test says so. */
let timers: Map<() => void, number>
const timersOf = (delay: number) => [...timers].flatMap(([run, after]) => (after === delay ? [run] : []))
const passes = (delay: number) => {
  for (const run of timersOf(delay)) run()
}

beforeEach(() => {
  timers = new Map()
  pool = new Pool({
    clock: {
      ...systemClock,
      after(delay, run) {
        if (delay !== CALL_TIMEOUT_MS && delay !== LONGEST_DRAIN_MS) return systemClock.after(delay, run)
        timers.set(run, delay)
        return () => void timers.delete(run)
      },
    },
    random: () => 0.5,
    log: createLog({ level: 'error', now: systemClock.now, write: () => undefined }),
    authorizations: { of: () => undefined },
    negotiated: { read: async () => 'legacy', save: async () => undefined },
    guard: { watch: () => () => undefined, [Symbol.asyncDispose]: async () => undefined },
    version: '1',
    connectTimeout: 30_000,
    callTimeout: CALL_TIMEOUT_MS,
    onChange: () => undefined,
    onEvents: () => undefined,
    onUpdated: () => undefined,
    onNotice: () => undefined,
  })
  pool.apply([spec()])
})
afterEach(async () => {
  await pool[Symbol.asyncDispose]()
  await untilNoChildren()
})

const readPid = async (connection: Requestable) => {
  const { content } = await connection.request('tools/call', { name: 'pid', arguments: {} })
  return content[0]?.type === 'text' ? Number(content[0].text) : 0
}
const pid = () => pool.use('lamp', readPid)

/** Uses the server in two steps, of which the second one waits. */
function useInTwoSteps() {
  const go = Promise.withResolvers<void>()
  const done = pool.use('lamp', async connection => {
    await go.promise
    return readPid(connection)
  })
  return { done, go: () => go.resolve() }
}

const heardBy = async (connection: Requestable) => {
  const { content } = await connection.request('tools/call', { name: 'heard', arguments: {} })
  return content[0]?.type === 'text' ? content[0].text : undefined
}

test('a server that changed takes what is new, and the one from before ends after its last call', async () => {
  const before = await pid()
  const [first, second] = [useInTwoSteps(), useInTwoSteps()]
  pool.apply([spec('tool=more')])
  const after = await pid()
  expect(after).not.toBe(before)
  first.go()
  expect(await first.done).toBe(before)
  expect(isRunning(before)).toBe(true)
  second.go()
  expect(await second.done).toBe(before)
  await until('the old one has ended', () => !isRunning(before))
  expect(timersOf(LONGEST_DRAIN_MS), 'no timer is left').toEqual([])
  expect(await pid()).toBe(after)
})

test('a server that is removed takes no call, and finishes the one that runs', async () => {
  const before = await pid()
  const running = useInTwoSteps()
  pool.apply([])
  expect(pool.all).toEqual([])
  await expect(pid()).rejects.toThrow('There is no server lamp')
  running.go()
  expect(await running.done).toBe(before)
  await until('it has ended', () => !isRunning(before))
})

test('a call that may go on, as one that waits for a person, is not cut off by a change', async () => {
  const before = await pid()
  const waiting = useInTwoSteps()
  pool.renew('lamp')
  passes(CALL_TIMEOUT_MS)
  expect(await pid()).not.toBe(before)
  waiting.go()
  expect(await waiting.done).toBe(before)
  await until('the old one has ended', () => !isRunning(before))
})

test('one that finishes its calls tells of no resource any more: what takes its place does', async () => {
  pool.apply([spec('resource=note://a')])
  await pid()
  pool.all?.[0]?.subscribe(new Set(['note://a']))
  const go = Promise.withResolvers<void>()
  const finished = pool.use('lamp', async connection => {
    await go.promise
    return until('it is unsubscribed', async () =>
      (await heardBy(connection))?.includes('unsubscribe note://a'),
    )
  })
  pool.apply([])
  go.resolve()
  expect(await finished).toBe(true)
})

test('one whose call never ends is ended after a day', async () => {
  const before = await pid()
  const stuck = useInTwoSteps()
  pool.apply([])
  expect(isRunning(before)).toBe(true)
  passes(LONGEST_DRAIN_MS)
  await until('it has ended', () => !isRunning(before))
  stuck.go()
  await expect(stuck.done).rejects.toThrow()
})

test('the end of the hub waits for no call', async () => {
  const before = await pid()
  const stuck = useInTwoSteps()
  pool.apply([])
  await pool[Symbol.asyncDispose]()
  expect(isRunning(before)).toBe(false)
  expect(timersOf(LONGEST_DRAIN_MS), 'no timer is left').toEqual([])
  stuck.go()
  await expect(stuck.done).rejects.toThrow()
})

test('the level of the log and changes of roots reach what sessions have of their own, also what comes later', async () => {
  pool.apply([{ ...spec('logs'), isolated: true }])
  const heard = (session?: string) => pool.use('lamp', heardBy, session === undefined ? {} : { session })
  await Promise.all([heard(), heard('early')])
  pool.setLogLevel('info')
  pool.rootsChanged()
  expect(await Promise.all([heard(), heard('early'), heard('late')])).toEqual([
    'level info, roots',
    'level info, roots',
    'level info',
  ])
})
