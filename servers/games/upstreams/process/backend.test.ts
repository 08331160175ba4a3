import { expect, test, vi } from 'vitest'
import { until } from '../../../../tests/support/until.ts'
import { systemClock } from '../../../kit/clock.ts'
import { createProcessBackend } from './backend.ts'

const env = { PATH: '/usr/bin:/bin' }
const open = (script: string, more = {}) =>
  createProcessBackend(
    { command: '/bin/sh', args: ['-c', script], cwd: undefined, env: {}, ...more },
    { clock: systemClock, env },
  )
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('it runs, is left alone by a second start, tells its lines and ends when it is stopped', async () => {
  await using backend = open('echo "$GREETING"; echo oops >&2; exec sleep 1000', { env: { GREETING: 'hi' } })
  expect(await backend.state()).toMatchObject({ state: 'stopped', detail: 'not started yet by this server' })
  expect(await backend.stop(1)).toBe(false)
  expect(await Promise.all([backend.start(), backend.start()])).toEqual([true, false])
  expect(await backend.state()).toMatchObject({ state: 'running' })
  await until('it said both lines', async () => (await backend.logs(10)).length === 2)
  expect((await backend.logs(10)).sort()).toEqual(['hi', 'oops'])
  expect(await backend.use()).toMatchObject({ memoryBytes: expect.any(Number) })
  expect(await backend.stop(5)).toBe(true)
  expect(await backend.state()).toMatchObject({ state: 'stopped', exitCode: 143 })
  expect(await backend.use()).toBeUndefined()
})

test('what it started ends with it, and what ignores the stop is killed', async () => {
  await using backend = open('trap "" TERM; (trap "" TERM; while :; do sleep 0.1; done) & echo $!; wait')
  await backend.start()
  const child = await until('it tells its child', async () => Number((await backend.logs(1))[0]) || undefined)
  expect(await backend.stop(0.2)).toBe(true)
  expect(await backend.state()).toMatchObject({ state: 'stopped', exitCode: 137 })
  await until('the child ended', () => !isAlive(child))
})

test('what a game leaves behind when it ends is ended too', async () => {
  await using backend = open('(while :; do sleep 0.1; done) & echo $!; exit 0')
  await backend.start()
  await until('it ended', async () => (await backend.state()).state === 'stopped')
  const child = await until('it told its child', async () => Number((await backend.logs(1))[0]) || undefined)
  await until('the child ended', () => !isAlive(child))
})

test('an end by itself is a failure with its code; disposing ends it', async () => {
  const backend = open('exit 3')
  await backend.start()
  await until('it ended', async () => (await backend.state()).state === 'failed')
  expect(await backend.state()).toMatchObject({ exitCode: 3, detail: 'ended with code 3' })
  const long = open('exec sleep 1000')
  await long.start()
  await long[Symbol.asyncDispose]()
  expect(await long.state()).toMatchObject({ state: 'stopped' })
})

test('a restart is a new life', async () => {
  await using backend = open('echo "life $$"; exec sleep 1000')
  await backend.start()
  await until('it said hello', async () => (await backend.logs(10)).length === 1)
  await backend.restart(5)
  await until('it said hello twice', async () => (await backend.logs(10)).length === 2)
  expect(new Set(await backend.logs(10)).size).toBe(2)
})

test('a program or a folder that does not exist is told', async () => {
  await expect(open('', { command: '/no/such' }).start()).rejects.toMatchObject({
    failure: { what: 'The process /no/such could not be started.', why: expect.stringContaining('ENOENT') },
  })
  await expect(open('', { cwd: '/no/such' }).start()).rejects.toMatchObject({
    failure: { where: '/bin/sh in /no/such' },
  })
})

test('a group that this user may not signal is told, and takes the server with it no more', async () => {
  await using backend = open('exit 3')
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  using _ = { [Symbol.dispose]: () => kill.mockRestore() }
  await backend.start()
  await until('it ended', async () => (await backend.state()).state === 'failed')
})
