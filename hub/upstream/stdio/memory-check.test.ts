import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { isRunning } from '../../../tests/support/processes.ts'
import { until } from '../../../tests/support/until.ts'
import { CHECK_MS, createMemoryCheck, defaultMemory } from './memory-check.ts'

const MIB = 1024 * 1024

/** A process that takes as many bytes as it is told, each time in another process outside of its group. */
const PROGRAM = `
const { spawn } = require('node:child_process')
require('node:readline').createInterface({ input: process.stdin }).on('line', bytes => {
  const code = 'const taken = Buffer.alloc(' + bytes + ', 1); console.log(process.pid); setInterval(() => taken, 60000)'
  spawn(process.execPath, ['-e', code], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
})
`
let child: ChildProcess | undefined
let below = 0

afterEach(() => {
  child?.kill('SIGKILL')
  if (below > 0 && isRunning(below)) process.kill(below, 'SIGKILL')
})

/** Starts the process under a limit. `take` resolves once it took memory. */
async function start(limit: number) {
  const started = spawn(process.execPath, ['-e', PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  child = started
  await once(started, 'spawn')
  const clock = createFakeClock()
  const over: number[] = []
  const check = createMemoryCheck(clock, { pid: started.pid ?? 0, limit }, used => over.push(used))
  const take = async (bytes: number) => {
    started.stdin?.write(`${bytes}\n`)
    const [pid] = await once(started.stdout ?? started, 'data')
    below = Number(pid)
  }
  return { started, clock, over, check, take }
}

test('a server that takes too much is ended, with what it started outside of its group', async () => {
  const { started, clock, over, check, take } = await start(300 * MIB)
  await take(250 * MIB)
  clock.advance(CHECK_MS)
  // It grew, so that it is looked at again.
  expect(clock.timers).toBe(1)
  expect(over).toEqual([])
  await take(150 * MIB)
  clock.advance(CHECK_MS)
  expect(over[0]).toBeGreaterThan(400 * MIB)
  await until('nothing of it runs', () => !isRunning(started.pid ?? 0) && !isRunning(below))
  check.onActive()
  expect(clock.timers).toBe(0)
})

test('it is looked at while it is active or grows, and otherwise not', () => {
  const clock = createFakeClock()
  const uses = [10, 20, 20.5, 20, 20].map(mebibytes => mebibytes * MIB)
  let looks = 0
  const read = () => ({ pids: [], used: uses[looks++] ?? 0 })
  const check = createMemoryCheck(clock, { pid: 1, limit: 100 * MIB }, () => undefined, read)
  const look = () => {
    clock.advance(CHECK_MS)
    return { looks, timers: clock.timers }
  }
  expect(look()).toEqual({ looks: 1, timers: 1 })
  expect(look()).toEqual({ looks: 2, timers: 1 })
  expect(look()).toEqual({ looks: 3, timers: 0 })
  check.onActive()
  check.onActive()
  expect(look()).toEqual({ looks: 4, timers: 0 })
  check.onActive()
  check.stop()
  expect(look()).toEqual({ looks: 4, timers: 0 })
})

test('the default is at most 4 GiB, and no more than half of the machine', () => {
  expect(defaultMemory()).toBeLessThanOrEqual(4 * 1024 * MIB)
  expect(defaultMemory()).toBeGreaterThan(0)
})
