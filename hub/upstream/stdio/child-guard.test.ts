import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { childrenOf, isRunning } from '../../../tests/support/processes.ts'
import { startProgram } from '../../../tests/support/program.ts'
import { until, within } from '../../../tests/support/until.ts'
import { createLog } from '../../core/log.ts'
import { openChildGuard } from './child-guard.ts'

const guardFile = fileURLToPath(new URL('./child-guard.ts', import.meta.url))

/** A program that guards two stubborn groups, each a leader with a child, and lets go of the first. */
const PROGRAM = `
import { spawn } from 'node:child_process'
import { openChildGuard } from ${JSON.stringify(guardFile)}
const guard = openChildGuard({ debug() {} })
const start = () => spawn('sh', ['-c', 'trap "" TERM; sleep 600 & wait; wait'], { detached: true, stdio: 'ignore' }).pid
const [let_go, kept] = [start(), start()]
const release = guard.watch(let_go)
guard.watch(kept)
release()
console.log(JSON.stringify([let_go, kept]))
setInterval(() => {}, 1000)
`

test('when its owner is killed, the groups that are still watched end, stubborn ones too', async () => {
  const owner = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: owner.stdout })[Symbol.asyncIterator]()
  const { value: line } = await within('the owner tells', lines.next())
  const [released, kept]: [number, number] = JSON.parse(line ?? '[]')
  const guard = await until('the guard runs', () =>
    childrenOf(owner.pid).find(({ command }) => command.includes('superbloom-guard')),
  )
  const below = await until('the group is there', () => childrenOf(kept)[0])
  owner.kill('SIGKILL')
  try {
    await until('the group is gone', () => !isRunning(kept) && !isRunning(below.pid))
    await until('the guard is gone', () => !isRunning(guard.pid))
    expect(isRunning(released)).toBe(true)
  } finally {
    process.kill(-released, 'SIGKILL')
  }
})

test('one with nothing to watch ends', async () => {
  const log = createLog({ level: 'error', now: () => 0, write: () => undefined })
  const guard = openChildGuard(log)
  const release = guard.watch(process.pid)
  const own = () => childrenOf().filter(({ command }) => command.includes('superbloom-guard'))
  expect(own().length).toBe(1)
  release()
  await guard[Symbol.asyncDispose]()
  expect(own()).toEqual([])
})

/** A program that waits for nothing but the guard's end: it ends there, or Node gives up with 13. */
const LAST_TO_END = `
import { spawn } from 'node:child_process'
import { openChildGuard } from ${JSON.stringify(guardFile)}
const guard = openChildGuard({ debug() {} })
const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
child.unref()
guard.watch(child.pid)
process.kill(-child.pid, 'SIGKILL')
await guard[Symbol.asyncDispose]()
console.log('disposed')
`

test('what is disposed after it runs too: a process that waits only for the guard does not end with 13', async () => {
  await using program = await startProgram(process.execPath, ['--input-type=module', '-e', LAST_TO_END])
  expect(await within('its end', program.ended)).toEqual({ code: 0, signal: null })
  expect(program.stdout).toBe('disposed\n')
})
