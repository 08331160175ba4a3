import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kit/testing/fake-clock.ts'
import { startFaultyUpstream, status } from '../../../kit/testing/faulty-upstream.ts'
import { createUpstream } from '../../../kit/upstream/upstream.ts'
import { exporterText } from '../../testing/exporter-text.ts'
import { createScrapedMachine } from './node-exporter.ts'

async function scrape(text: string) {
  const exporter = await startFaultyUpstream({ 'GET /metrics': status(200, text) })
  const clock = createFakeClock()
  const upstream = createUpstream({ name: 'attic', url: exporter.url, clock })
  return { exporter, clock, machine: createScrapedMachine('attic', upstream, clock) }
}

test('a machine is told by what its exporter answers', async () => {
  const { exporter, machine } = await scrape(exporterText())
  await using _ = exporter
  expect(await machine.about()).toEqual({
    host: 'attic',
    os: 'Debian GNU/Linux 12 (bookworm)',
    kernel: '6.1.0-25-amd64',
    arch: 'x64',
    uptimeSeconds: 7200,
  })
  expect(await machine.cpu()).toEqual({ cores: 2, model: 'Intel(R) N100', load: [0.52, 0.58, 0.59] })
  expect(await machine.memory()).toEqual({
    totalBytes: 16e9,
    availableBytes: 12e9,
    swap: { totalBytes: 2e9, usedBytes: 0.5e9 },
  })
  expect(await machine.counters()).toEqual({
    at: 0,
    cpu: { busy: 200, total: 1800 },
    network: [{ name: 'eth0', receivedBytes: 1000, sentBytes: 2000 }],
  })
  expect(await machine.disks()).toEqual({
    disks: [
      {
        mount: '/',
        device: '/dev/sda1',
        type: 'ext4',
        readOnly: false,
        totalBytes: 250e9,
        usedBytes: 100e9,
        freeBytes: 150e9,
        percent: 40,
        inodePercent: 10,
      },
    ],
    silent: ['/mnt/media'],
  })
  expect(await machine.temperatures()).toEqual([
    { sensor: 'coretemp Package id 0', celsius: 47, criticalCelsius: 105 },
  ])
  expect(await machine.version()).toBe('1.5.0')
  expect(exporter.requests).toHaveLength(1)
})

test('one answer serves the questions of a moment, the next moment asks anew', async () => {
  const { exporter, machine, clock } = await scrape(exporterText())
  await using _ = exporter
  await Promise.all([machine.memory(), machine.disks(), machine.cpu()])
  expect(exporter.requests).toHaveLength(1)
  await clock.advance(400)
  await machine.memory()
  expect(exporter.requests).toHaveLength(2)
  await machine.refresh()
  expect(exporter.requests).toHaveLength(3)
})

test('an old or small machine is told as far as it tells', async () => {
  const text = `node_cpu_seconds_total{cpu="0",mode="idle"} 5
node_memory_MemTotal_bytes 1000
node_memory_MemFree_bytes 100
node_memory_Buffers_bytes 50
node_memory_Cached_bytes 250
node_thermal_zone_temp{type="cpu-thermal",zone="0"} 51.5
node_thermal_zone_temp{type="cpu-thermal",zone="1"} 52`
  const { exporter, machine } = await scrape(text)
  await using _ = exporter
  expect(await machine.memory()).toEqual({ totalBytes: 1000, availableBytes: 400 })
  expect(await machine.temperatures()).toEqual([
    { sensor: 'cpu-thermal', celsius: 51.5 },
    { sensor: 'cpu-thermal #2', celsius: 52 },
  ])
  expect(await machine.disks()).toEqual({ disks: [], silent: [] })
  expect(await machine.cpu()).toEqual({ cores: 1 })
  expect(await machine.about()).toEqual({
    host: 'attic',
    kernel: 'unknown',
    arch: 'unknown',
    uptimeSeconds: 0,
  })
})

test('chips of one name are told apart', async () => {
  const chip = (name: string) => `node_hwmon_chip_names{chip="${name}",chip_name="nvme"} 1
node_hwmon_temp_celsius{chip="${name}",sensor="temp1"} 40`
  const { exporter, machine } = await scrape(`${exporterText()}${chip('nvme_nvme0')}\n${chip('nvme_nvme1')}`)
  await using _ = exporter
  const sensors = (await machine.temperatures()).map(({ sensor }) => sensor)
  expect(sensors).toEqual(['coretemp Package id 0', 'nvme nvme_nvme0 temp1', 'nvme nvme_nvme1 temp1'])
})

test('the metrics of another program are no machine', async () => {
  const { exporter, machine } = await scrape('prometheus_build_info{version="2"} 1')
  await using _ = exporter
  await expect(machine.memory()).rejects.toThrow('did not answer as the node-exporter of a Linux machine')
  await expect(machine.processes(async () => undefined)).rejects.toThrow('does not tell this')
})
