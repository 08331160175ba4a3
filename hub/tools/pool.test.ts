import { afterEach, beforeEach, expect, test } from 'vitest'
import { odd } from '../../tests/support/downstream.ts'
import { isRunning, untilNoChildren } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'
import { childEnvironment } from '../config/environment.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import type { Requestable } from './isolated.ts'
import { createPool, type Pool } from './pool.ts'
import type { ServerSpec } from './server-spec.ts'

const CALL_TIMEOUT_MS = 120_000

const spec = (...modes: string[]): ServerSpec => ({
  name: 'lamp',
  origin: 'config',
  prefix: '',
  transport: { kind: 'stdio', env: childEnvironment(), ...odd(...modes).entry },
})

let pool: Pool
let outOfTime: (() => void) | undefined

beforeEach(() => {
  outOfTime = undefined
  pool = createPool({
    clock: {
      ...systemClock,
      after(delay, run) {
        if (delay !== CALL_TIMEOUT_MS) return systemClock.after(delay, run)
        outOfTime = run
        return () => {
          outOfTime = undefined
        }
      },
    },
    random: () => 0.5,
    log: createLog({ level: 'error', now: systemClock.now, write: () => undefined }),
    authorizations: { of: () => undefined },
    eras: { read: async () => 'legacy', save: async () => undefined },
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

/** Something that a caller does with the server in two steps, of which the second one waits. */
function useInTwoSteps() {
  const go = Promise.withResolvers<void>()
  const done = pool.use('lamp', async connection => {
    await go.promise
    return readPid(connection)
  })
  return { done, go: () => go.resolve() }
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
  expect(outOfTime, 'no timer is left').toBeUndefined()
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

test('one whose call never ends is ended when a call may take no longer', async () => {
  const before = await pid()
  const stuck = useInTwoSteps()
  pool.apply([])
  expect(isRunning(before)).toBe(true)
  outOfTime?.()
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
  expect(outOfTime, 'no timer is left').toBeUndefined()
  stuck.go()
  await expect(stuck.done).rejects.toThrow()
})

test('the level of the log and changes of roots reach what sessions have of their own, also what comes later', async () => {
  pool.apply([{ ...spec('logs'), isolated: true }])
  const heard = (session?: string) =>
    pool.use(
      'lamp',
      async connection => {
        const { content } = await connection.request('tools/call', { name: 'heard', arguments: {} })
        return content[0]?.type === 'text' ? content[0].text : undefined
      },
      session === undefined ? {} : { session },
    )
  await Promise.all([heard(), heard('early')])
  pool.setLogLevel('info')
  pool.rootsChanged()
  expect(await Promise.all([heard(), heard('early'), heard('late')])).toEqual([
    'level info, roots',
    'level info, roots',
    'level info',
  ])
})
