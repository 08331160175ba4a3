import { hostname } from 'node:os'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../kit/clock.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createFixtureHost, type FixtureHost } from './fixture-host.ts'
import { createLinuxMachine, type LinuxOptions } from './linux.ts'

let host: FixtureHost
beforeEach(() => {
  host = createFixtureHost()
})
afterEach(() => host[Symbol.dispose]())

const create = (options: Partial<LinuxOptions> = {}) =>
  createLinuxMachine({ clock: systemClock, hostRoot: host.root, ...options })
const noSignal = new AbortController().signal

describe("the host's files in a container", () => {
  test('about', async () => {
    expect(await create().about()).toMatchObject({
      host: 'nas',
      os: 'Debian GNU/Linux 13 (trixie)',
      uptimeSeconds: 7200.5,
    })
    expect((await create().about()).virtual).toBeUndefined()
    expect((await create({ hostName: 'attic' }).about()).host).toBe('attic')
  })

  test.each([
    [
      { 'sys/class/dmi/id/sys_vendor': 'QEMU\n', 'sys/class/dmi/id/product_name': 'Standard PC (Q35)\n' },
      'QEMU Standard PC (Q35)',
    ],
    [{ 'proc/cpuinfo': 'flags : fpu hypervisor lahf_lm\n' }, 'a virtual machine'],
    [{ 'sys/class/dmi/id/sys_vendor': 'ASUS\n' }, undefined],
  ])('virtual: %j', async (files, virtual) => {
    for (const [path, text] of Object.entries(files)) host.write(path, text)
    expect((await create().about()).virtual).toBe(virtual)
  })

  test('CPU, counters and memory', async () => {
    const machine = create({ clock: createFakeClock() })
    expect(await machine.cpu()).toEqual({ cores: 2, model: 'Intel(R) N100', load: [0.52, 0.58, 0.59] })
    expect(await machine.counters()).toEqual({
      at: 0,
      cpu: { busy: 200, total: 1000 },
      network: [{ name: 'eth0', receivedBytes: 1000, sentBytes: 2000 }],
    })
    expect((await machine.memory()).swap?.usedBytes).toBe(500_000 * 1024)
  })

  test('the disks of the host, at their paths there', async () => {
    const { disks, silent } = await create().disks()
    expect(disks.map(({ mount, device }) => [mount, device])).toEqual([
      ['/', '/dev/sda1'],
      ['/srv/media', '/dev/sdb1'],
    ])
    expect(silent).toEqual([])
    expect(disks[0]?.totalBytes).toBeGreaterThan(0)
  })

  test('a disk that went away is left out', async () => {
    host.write('proc/1/mountinfo', '24 23 8:17 / /not/there rw - ext4 /dev/sdb1 rw\n')
    expect(await create().disks()).toEqual({ disks: [], silent: [] })
  })

  test("drives, with smartctl's words", async () => {
    const asked: string[][] = []
    const smartctl: LinuxOptions['smartctl'] = async args => {
      asked.push([...args])
      return JSON.stringify({ smart_status: { passed: true }, temperature: { current: 30 } })
    }
    host.write('sys/block/vda/size', '1000\n')
    expect(await create({ smartctl }).drives(noSignal)).toEqual([
      {
        device: '/dev/sda',
        model: 'Samsung SSD 870 EVO 500GB',
        kind: 'ssd',
        sizeBytes: 1000215216 * 512,
        health: 'ok',
        celsius: 30,
        warnings: [],
      },
      {
        device: '/dev/vda',
        sizeBytes: 512_000,
        warnings: [],
        unknown: 'a virtual drive, which has no SMART',
      },
    ])
    expect(asked).toEqual([['--nocheck=standby', '--all', '--json', '/dev/sda']])
  })

  test.each([
    [Object.assign(new Error('spawn smartctl ENOENT'), { code: 'ENOENT' }), /not installed here/],
    [new Error('killed'), /smartctl failed: killed/],
  ])('drives where smartctl does not run: %s', async (error, unknown) => {
    const drives = await create({ smartctl: () => Promise.reject(error) }).drives(noSignal)
    expect(drives[0]?.unknown).toMatch(unknown)
    expect(drives[0]?.health).toBeUndefined()
  })

  test('a call that was given up ends there', async () => {
    const smartctl = () => Promise.reject(new Error('The operation was aborted'))
    await expect(create({ smartctl }).drives(AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    )
  })
})

describe('temperatures', () => {
  const read = async () =>
    (await create().temperatures()).map(({ sensor, celsius }) => `${sensor} ${celsius}`)

  test('names, values and the critical one', async () => {
    expect(await create().temperatures()).toEqual([
      { sensor: 'coretemp Package id 0', celsius: 47, criticalCelsius: 105 },
    ])
  })

  test.each([
    ['an open input', 'temp2_input', '127500'],
    ['a dead zone', 'temp2_input', '-62000'],
    ['no number', 'temp2_input', 'n/a'],
    ['nothing', 'temp2_input', ''],
  ])('%s is left out', async (_what, file, text) => {
    host.write(`sys/class/hwmon/hwmon0/${file}`, text)
    expect(await read()).toEqual(['coretemp Package id 0 47'])
  })

  test('a sensor that says it is broken is left out', async () => {
    host.write('sys/class/hwmon/hwmon0/temp1_fault', '1\n')
    expect(await read()).toEqual([])
  })

  test('equal chips are told apart', async () => {
    for (const index of [1, 2]) {
      host.write(`sys/class/hwmon/hwmon${index}/name`, 'nvme\n')
      host.write(`sys/class/hwmon/hwmon${index}/temp1_label`, 'Composite\n')
      host.write(`sys/class/hwmon/hwmon${index}/temp1_input`, `${40 + index}000\n`)
      host.write(`sys/class/hwmon/hwmon${index}/temp2_input`, '30500\n')
    }
    expect(await read()).toEqual([
      'coretemp Package id 0 47',
      'nvme Composite 41',
      'nvme temp2 30.5',
      'nvme Composite #2 42',
      'nvme temp2 #2 30.5',
    ])
  })

  test('a small board has thermal zones only', async () => {
    host.write('sys/class/hwmon/hwmon0/temp1_input', '')
    host.write('sys/class/thermal/thermal_zone0/type', 'cpu-thermal\n')
    host.write('sys/class/thermal/thermal_zone0/temp', '51540\n')
    expect(await read()).toEqual(['cpu-thermal 51.54'])
  })
})

describe('this machine', () => {
  const here = () => createLinuxMachine({ clock: systemClock })

  test('tells of itself, and real numbers', async () => {
    const machine = here()
    expect(await machine.about()).toMatchObject({ host: hostname(), arch: process.arch })
    const { cpu } = await machine.counters()
    expect(cpu.total).toBeGreaterThan(cpu.busy)
    expect((await machine.cpu()).cores).toBeGreaterThan(0)
    const memory = await machine.memory()
    expect(memory.totalBytes).toBeGreaterThan(memory.availableBytes)
    const root = (await machine.disks()).disks.find(disk => disk.mount === '/')
    expect(root?.percent).toBeGreaterThan(0)
    expect(root?.percent).toBeLessThanOrEqual(100)
  })

  test('finds this process among its processes, by the name of its program', async () => {
    const processes = await here().processes(() => Promise.resolve())
    expect(processes.find(({ pid }) => pid === process.pid)?.name).toMatch(/node/)
  })
})

test('a host root that holds no system is refused with what to do', () => {
  expect(() => create({ hostRoot: '/nowhere' })).toThrow(
    'METRICS_HOST_ROOT is "/nowhere", but there is no /nowhere/etc: mount the host\'s / there (-v /:/host:ro,rslave).',
  )
})
