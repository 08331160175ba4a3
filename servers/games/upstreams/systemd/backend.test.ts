import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kit/testing/fake-clock.ts'
import { createSystemdBackend } from './backend.ts'
import type { CommandResult, RunCommand } from './command.ts'

/** Output of `systemctl show` of systemd 252 for units in these states. */
const RUNNING = `Result=success
NRestarts=2
ExecMainCode=0
ExecMainStatus=0
MemoryCurrent=188416
CPUUsageNSec=1000000000
LoadState=loaded
ActiveState=active
SubState=running
ActiveEnterTimestamp=@1795324375
InactiveEnterTimestamp=
`
const FAILED = `Result=exit-code
NRestarts=0
ExecMainCode=1
ExecMainStatus=3
MemoryCurrent=[not set]
CPUUsageNSec=[not set]
LoadState=loaded
ActiveState=failed
SubState=failed
ActiveEnterTimestamp=@1795324376
InactiveEnterTimestamp=@1795324377
`
const KILLED = FAILED.replace('exit-code', 'signal').replace('MainCode=1', 'MainCode=2').replace('=3', '=9')
const STARVED = KILLED.replace('Result=signal', 'Result=oom-kill')
const JAVA = FAILED.replace('Status=3', 'Status=143')
const GONE = `Result=success
LoadState=not-found
ActiveState=inactive
SubState=dead
ActiveEnterTimestamp=
`
const STOPPED = GONE.replace('not-found', 'loaded')
const MASKED = GONE.replace('not-found', 'masked')

const said = (stdout: string): CommandResult => ({ code: 0, stdout, stderr: '' })
const refused = (code: number, stderr: string): CommandResult => ({ code, stdout: '', stderr })

/** Opens a table as systemctl: the answers of each verb, the last one again and again. */
function open(table: Record<string, CommandResult[]>, user = false) {
  const calls: string[] = []
  const run: RunCommand = async (program, args) => {
    const verb = args.find(arg => /^[a-z-]+$/.test(arg) && !arg.startsWith('-')) ?? program
    calls.push([program, ...args].join(' '))
    const answers = table[program === 'journalctl' ? program : verb] ?? [said('')]
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? said('')
  }
  const clock = createFakeClock()
  return {
    calls,
    clock,
    backend: createSystemdBackend({ unit: 'mc.service', user }, { clock, run, env: {} }),
  }
}

test.each([
  [RUNNING, { state: 'running', detail: 'active (running)', startedAt: 1_795_324_375_000, restarts: 2 }],
  [FAILED, { state: 'failed', exitCode: 3, oom: false, stoppedAt: 1_795_324_377_000 }],
  [KILLED, { state: 'failed', exitCode: 137, oom: false, detail: 'failed (failed), result signal' }],
  [STARVED, { state: 'failed', exitCode: 137, oom: true }],
  [
    FAILED.replace('=failed', '=activating').replace('State=failed', 'State=auto-restart'),
    { state: 'starting', exitCode: 3, detail: 'activating (auto-restart), result exit-code' },
  ],
  [JAVA, { state: 'stopped', exitCode: 143 }],
  [GONE, { state: 'missing' }],
  [STOPPED, { state: 'stopped', exitCode: undefined, stoppedAt: undefined }],
  [MASKED, { state: 'stopped', detail: 'inactive (dead), its file is masked' }],
  [RUNNING.replace('=active', '=activating'), { state: 'starting' }],
])('the unit %# is told as it is', async (facts, state) => {
  expect(await open({ show: [said(facts)] }).backend.state()).toMatchObject(state)
})

test('start and stop say whether they changed anything, and user units are asked of their manager', async () => {
  const up = open({ show: [said(RUNNING)] }, true)
  expect(await up.backend.start()).toBe(false)
  const down = open({ show: [said(STOPPED)] })
  expect(await down.backend.stop(5)).toBe(false)
  expect(await down.backend.start()).toBe(true)
  expect(down.calls.at(-1)).toBe('systemctl start --no-ask-password --no-block -- mc.service')
  expect(up.calls).toEqual([
    expect.stringMatching(/^systemctl --user show --timestamp=unix -p .* -- mc\.service$/),
  ])
})

test('a unit that does not end in its time is killed, and not left as failed', async () => {
  const shows = [...Array(6).fill(said(RUNNING)), said(KILLED)]
  const { backend, calls, clock } = open({ show: shows })
  const stopping = backend.stop(1)
  await clock.advance(3000)
  expect(await stopping).toBe(true)
  expect(calls.filter(call => !call.includes(' show ')).map(call => call.split(' ')[1])).toEqual([
    'stop',
    'kill',
    'reset-failed',
  ])
})

test('one that does not even end when it is killed is told', async () => {
  const { backend, clock } = open({ show: [said(RUNNING)] })
  const stopping = expect(backend.stop(1)).rejects.toMatchObject({
    failure: { what: 'The unit mc.service does not end.' },
  })
  await clock.advance(20_000)
  await stopping
})

test('use is measured over two looks; without accounting it is unknown', async () => {
  const later = RUNNING.replace('1000000000', '1250000000')
  const { backend, clock } = open({ show: [said(RUNNING), said(later)] })
  const using = backend.use()
  await clock.advance(500)
  expect(await using).toEqual({ cpuPercent: 50, memoryBytes: 188_416 })
  const without = open({ show: [said(RUNNING.replace('1000000000', '[not set]'))] })
  const unknown = without.backend.use()
  await without.clock.advance(500)
  expect(await unknown).toBeUndefined()
})

test.each([
  [refused(1, 'Failed to start mc.service: Access denied\nSee…'), 'forbidden', 'polkit'],
  [refused(4, 'Interactive authentication required.'), 'forbidden', 'polkit'],
  [refused(5, 'Failed to start mc.service: Unit mc.service not found.'), 'not_found', 'list-unit-files'],
  [refused(1, 'Failed to connect to bus: No such file or directory'), 'unreachable', 'not in a container'],
  [refused(1, 'Failed to start mc.service: Unit mc.service is masked.'), 'refused', 'systemctl status'],
])('what systemctl refuses is explained: %j', async (result, kind, fix) => {
  const { backend } = open({ show: [said(STOPPED)], start: [result] })
  await expect(backend.start()).rejects.toMatchObject({
    kind,
    failure: { where: 'systemctl start', fix: expect.stringContaining(fix) },
  })
})

test('without systemd here that is said', async () => {
  const run: RunCommand = async () => {
    throw Object.assign(new Error('spawn systemctl ENOENT'), { code: 'ENOENT' })
  }
  const backend = createSystemdBackend(
    { unit: 'mc.service', user: false },
    { clock: createFakeClock(), run, env: {} },
  )
  await expect(backend.state()).rejects.toMatchObject({
    kind: 'unreachable',
    failure: { why: 'there is no program systemctl here' },
  })
})

test('the log comes from the journal; an empty or forbidden one is told', async () => {
  const { backend, calls } = open({ journalctl: [said('one\ntwo\n')] }, true)
  expect(await backend.logs(2)).toEqual(['one', 'two'])
  expect(calls).toEqual(['journalctl --user-unit mc.service -n 2 -o cat --no-pager -q'])
  await expect(open({ journalctl: [said('')] }).backend.logs(2)).rejects.toMatchObject({
    failure: {
      what: 'The log of unit mc.service could not be read.',
      fix: expect.stringContaining('systemd-journal'),
    },
  })
  await expect(
    open({
      journalctl: [refused(1, 'No journal files were opened due to insufficient permissions.')],
    }).backend.logs(2),
  ).rejects.toMatchObject({ failure: { why: expect.stringContaining('insufficient permissions') } })
})
