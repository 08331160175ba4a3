import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectClient } from '../../servers/kit/testing/clients.ts'

const SERVER = fileURLToPath(new URL('../../servers/metrics/server.ts', import.meta.url))

/**
 * A virtual machine has no /sys/class/hwmon, so the server runs in a mount namespace whose /sys/class is
 * rebuilt with one. Needs root. The namespace ends with the server.
 */
const WITH_HWMON = `
  set -e
  mount --rbind /sys/class "$1"
  mount -t tmpfs tmpfs /sys/class
  for entry in "$1"/*; do
    name=$(basename "$entry")
    case $name in hwmon|thermal) continue ;; esac
    mkdir "/sys/class/$name"
    mount --bind "$entry" "/sys/class/$name"
  done
  mkdir /sys/class/hwmon
  mount --bind "$2" /sys/class/hwmon
  shift 2
  exec "$@"`

let folder: string
const write = (name: string, text: string) => writeFileSync(join(folder, 'hw/hwmon0', name), text)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hwmon-'))
  mkdirSync(join(folder, 'class'))
  mkdirSync(join(folder, 'hw/hwmon0'), { recursive: true })
  write('name', 'coretemp\n')
  write('temp1_label', 'Package id 0\n')
  write('temp1_input', '47000\n')
  write('temp1_crit', '100000\n')
  write('temp2_label', 'Core 0\n')
  write('temp2_input', '45000\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const connect = () =>
  connectClient('2.x, negotiating', {
    kind: 'stdio',
    command: 'unshare',
    args: [
      '-m',
      'bash',
      '-c',
      WITH_HWMON,
      '_',
      join(folder, 'class'),
      join(folder, 'hw'),
      process.execPath,
      SERVER,
    ],
    env: { PATH: process.env['PATH'] ?? '', METRICS_INTERVAL: '100ms' },
  })

test('the kernel’s sensors are read, and a hot one is told', async () => {
  await using client = await connect()
  const { structured, text } = await client.call('get_system_metrics')
  expect(structured).toMatchObject({
    temperatures: [
      { sensor: 'coretemp Package id 0', celsius: 47, criticalCelsius: 100 },
      { sensor: 'coretemp Core 0', celsius: 45 },
    ],
  })
  expect(text).toContain('Temperature: coretemp Package id 0 47 °C, coretemp Core 0 45 °C.')

  await client.subscribe('events://metrics')
  write('temp1_input', '91000\n')
  expect(await client.nextUpdate()).toBe('events://metrics')
  const { events } = await client.readEvents('events://metrics')
  expect(events.filter(({ type }) => type === 'temp_high')).toMatchObject([
    { type: 'temp_high', payload: { sensor: 'coretemp Package id 0', temp: 91, threshold: 80 } },
  ])
})

test('without a sensor there is no temperature', async () => {
  rmSync(join(folder, 'hw/hwmon0'), { recursive: true })
  await using client = await connect()
  const { structured, text } = await client.call('get_system_metrics')
  expect(structured).not.toHaveProperty('temperatures')
  expect(text).toContain('no sensor can be read')
})
