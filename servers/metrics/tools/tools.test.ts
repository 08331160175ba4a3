import { expect, test } from 'vitest'
import type { systemClock } from '../../kit/clock.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import type { Tool } from '../../kit/tool.ts'
import { openHistory } from '../history/history.ts'
import { openHosts } from '../hosts.ts'
import type { Drive, Machine, ProcessUse } from '../machine/machine.ts'
import { createSampler } from '../machine/sampler.ts'
import { createFakeMachine, fakeCounters, fakeDisk, GIB } from '../testing/fake-machine.ts'
import { getDiskHealth } from './get-disk-health.ts'
import { getProcesses } from './get-processes.ts'
import { getSystemMetrics } from './get-system-metrics.ts'

/** Calls a tool on a fake machine, with a clock that advances by itself for a second. */
async function call(
  create: (deps: { machine: Machine; clock: typeof systemClock }) => Tool,
  machine: Partial<Machine>,
  args = {},
) {
  const clock = createFakeClock()
  const counters = async () => {
    const at = clock.monotonic()
    return fakeCounters(at, at * 0.12, at, [{ name: 'eth0', receivedBytes: at * 1024, sentBytes: at }])
  }
  const tool = create({ machine: createFakeMachine({ counters, ...machine }), clock })
  const result = tool.call(args, { clock, log: () => undefined, signal: new AbortController().signal })
  await clock.advance(1000)
  const { content, structuredContent, isError } = await result
  const first = content[0]
  return { text: first?.type === 'text' ? first.text : '', data: structuredContent, isError }
}

const systemMetrics = (deps: { machine: Machine; clock: typeof systemClock }) =>
  getSystemMetrics({
    hosts: openHosts(
      { name: 'nas', machine: deps.machine, sampler: createSampler(deps.machine, deps.clock) },
      [],
      deps.clock,
    ),
    history: undefined,
    clock: deps.clock,
  })

test('get_system_metrics tells what a quiet machine knows, and nothing that it does not', async () => {
  const { text, data } = await call(systemMetrics, {})
  expect(text).toBe(
    [
      'nas (up 2 h 0 min)',
      'CPU 12 % of 2 cores over 0.5 s, load 0.4 0.3 0.2.',
      'Memory 3.1 GiB of 24 GiB (12.9 %), no swap.',
      'Disk / 41 % of 252 GiB, 149 GiB free.',
      'Temperature: no sensor can be read here.',
      'Network eth0: in 1000 KiB/s, out 1000 B/s, 500 KiB received and 500 B sent in all.',
    ].join('\n'),
  )
  expect(data).toMatchObject({ cpu: { percent: 12, overSeconds: 0.5, cores: 2 }, memory: { percent: 12.9 } })
  for (const key of ['temperatures', 'swap', 'os', 'virtual', 'silentMounts'])
    expect(data).not.toHaveProperty(key)
})

test('get_system_metrics tells how it went, where a history is kept', async () => {
  const none = await call(systemMetrics, {}, { history: 'day' })
  expect(none).toMatchObject({ isError: true, text: expect.stringContaining('METRICS_HISTORY') })
  const clock = createFakeClock(Date.parse('2026-11-22T04:00:00Z'))
  using history = openHistory(undefined, clock, () => undefined)
  const kept = (deps: { machine: Machine }) => {
    const local = { name: 'nas', machine: deps.machine, sampler: createSampler(deps.machine, clock) }
    return getSystemMetrics({ hosts: openHosts(local, [], clock), history, clock })
  }
  const counters = async () => fakeCounters(clock.monotonic(), 0, clock.monotonic() + 1)
  await clock.advance(5000)
  const ask = async () => {
    const tool = kept({ machine: createFakeMachine({ counters }) })
    const result = tool.call(
      { history: 'hour' },
      { clock, log: () => undefined, signal: AbortSignal.timeout(9000) },
    )
    await clock.advance(1000)
    return result
  }
  expect((await ask()).content).toMatchObject([
    { text: expect.stringContaining('the history has just begun') },
  ])
  history.add('nas', [{ kind: 'disk', name: '/srv', value: 40 }])
  await clock.advance(60_000)
  history.add('nas', [{ kind: 'disk', name: '/srv', value: 44 }])
  const { content, structuredContent } = await ask()
  expect(content).toMatchObject([
    {
      text: expect.stringMatching(
        /^Since .*, by means of 1 min:\n- disk \/srv: least 40, mean 42, most 44 %$/m,
      ),
    },
  ])
  expect(structuredContent).toMatchObject({
    history: { stepSeconds: 60, curves: [{ kind: 'disk', name: '/srv', least: 40, mean: 42, most: 44 }] },
  })
})

test('get_system_metrics tells all that a talkative machine knows, with clean names', async () => {
  const { text, data } = await call(systemMetrics, {
    about: async () => ({
      host: 'vm',
      os: 'Debian',
      virtual: 'QEMU',
      kernel: '6',
      arch: 'x64',
      uptimeSeconds: 59.6,
    }),
    cpu: async () => ({ cores: 1, model: 'EPYC\u0007' }),
    memory: async () => ({
      totalBytes: GIB,
      availableBytes: 0,
      swap: { totalBytes: GIB, usedBytes: GIB / 4 },
    }),
    temperatures: async () => [{ sensor: 'cpu\u001b[1m', celsius: 81.26, criticalCelsius: 100 }],
    disks: async () => ({ disks: [fakeDisk({ mount: '/a\nb', readOnly: true })], silent: ['/mnt/nas'] }),
  })
  expect(text).toContain('vm (Debian, QEMU, up 1 min)')
  expect(text).toContain('CPU 12 % of 1 core over 0.5 s.')
  expect(text).toContain('(100 %), swap 25 % of 1 GiB.')
  expect(text).toContain('Disk /a b 41 % of 252 GiB, 149 GiB free, read-only.\n/mnt/nas does not answer.')
  expect(text).toContain('Temperature: cpu [1m 81.3 °C.')
  expect(data).toMatchObject({
    silentMounts: ['/mnt/nas'],
    temperatures: [{ sensor: 'cpu [1m', celsius: 81.3, criticalCelsius: 100 }],
    cpu: { model: 'EPYC' },
  })
})

test('get_system_metrics says in words why it fails', async () => {
  const { text, isError } = await call(systemMetrics, {
    memory: () => Promise.reject(new Error('EACCES: /proc/meminfo')),
  })
  expect(isError).toBe(true)
  expect(text).toContain('Why: EACCES: /proc/meminfo')
})

const uses: ProcessUse[] = [
  { pid: 1, name: 'init', cpuPercent: 0, memoryBytes: GIB / 100 },
  { pid: 20, name: 'Java', cpuPercent: 150.26, memoryBytes: 6 * GIB },
  { pid: 30, name: 'javac\u001b[31m', cpuPercent: 0.5, memoryBytes: 12 * GIB },
]
const processes = async (pause: () => Promise<void>) => {
  await pause()
  return uses
}

test.each([
  [{}, [20, 30, 1]],
  [{ sort: 'memory' }, [30, 20, 1]],
  [{ limit: 1 }, [20]],
  [{ name: 'JAVA', sort: 'memory' }, [30, 20]],
  [{ name: 'cron' }, []],
])('get_processes with %j lists %j', async (args, pids) => {
  const { data } = await call(getProcesses, { processes }, args)
  expect((data as { processes: ProcessUse[] }).processes.map(({ pid }) => pid)).toEqual(pids)
})

test('get_processes names the user, the unit and the container', async () => {
  const owners = async () =>
    new Map([
      [20, { user: 'ann', unit: 'mc.service' }],
      [30, { user: '1000', containerId: 'ab'.repeat(32) }],
    ])
  const { text, data } = await call(getProcesses, { processes, owners }, { limit: 2 })
  expect(text).toMatch(/^20 Java: .*\(25 %\), unit mc\.service, user ann$/m)
  expect(text).toMatch(/^30 javac .*, container abababababab, user 1000$/m)
  expect(data).toMatchObject({
    processes: [{ user: 'ann', unit: 'mc.service' }, { container: 'abababababab' }],
  })
})

test('get_processes says it in words', async () => {
  expect((await call(getProcesses, { processes }, { limit: 2 })).text).toBe(
    '3 processes; the 2 with the most CPU:\n20 Java: CPU 150 %, memory 6 GiB (25 %)\n30 javac [31m: CPU 0.5 %, memory 12 GiB (50 %)',
  )
  expect((await call(getProcesses, { processes }, { name: 'cron' })).text).toBe(
    '0 of 3 processes match "cron".',
  )
})

test.each([{ limit: 0 }, { limit: 101 }, { sort: 'name' }, { name: '' }])(
  'get_processes refuses %j',
  async args => {
    expect((await call(getProcesses, { processes }, args)).isError).toBe(true)
  },
)

const drive = (more: Partial<Drive>): Drive => ({ device: '/dev/sda', warnings: [], ...more })

test('get_disk_health shows drives and filesystems, with what is wrong', async () => {
  const { text, data } = await call(getDiskHealth, {
    drives: async () => [
      drive({
        health: 'warning',
        kind: 'hdd',
        model: 'WD',
        sizeBytes: 4 * 2 ** 40,
        celsius: 34,
        powerOnHours: 9,
        warnings: ['8 reallocated sectors'],
      }),
      drive({ device: '/dev/nvme0n1', health: 'ok', wearPercent: 3 }),
      drive({ device: '/dev/sdb', unknown: 'asleep' }),
    ],
    disks: async () => ({
      disks: [fakeDisk({ percent: 97, readOnly: true, inodePercent: 99.94 })],
      silent: ['/mnt/nas'],
    }),
  })
  expect(text.split('\n')).toEqual([
    'Drive /dev/sda (HDD WD 4 TiB): warning, 34 °C, 9 hours on. WARNING: 8 reallocated sectors.',
    'Drive /dev/nvme0n1: ok, 3 % worn.',
    'Drive /dev/sdb: health unknown (asleep).',
    'Disk / 97 % of 252 GiB, 149 GiB free, read-only, inodes 99.9 %. WARNING: mounted read-only: on purpose, or by the kernel after an error (see dmesg); almost full; almost out of inodes: no new files although there may be space.',
    '/mnt/nas does not answer.',
  ])
  expect(data).not.toHaveProperty('note')
})

test.each([
  [
    'a virtual machine',
    { virtual: 'QEMU' },
    [drive({ unknown: 'x' })],
    /it is virtual \(QEMU\).*Ask the host/,
  ],
  ['a machine without smartctl', {}, [drive({ unknown: 'x' })], /SMART needs smartctl/],
  ['a container without drives', {}, [], /No drive can be seen/],
])('get_disk_health says plainly that %s tells nothing', async (_what, about, drives, note) => {
  const { text, data } = await call(getDiskHealth, {
    drives: async () => drives,
    about: async () => ({ host: 'nas', kernel: '6', arch: 'x64', uptimeSeconds: 1, ...about }),
  })
  expect(text.split('\n')[0]).toMatch(note)
  expect(data).toMatchObject({ note: expect.stringMatching(note) })
})
