import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The files of a small machine in a folder of their own, to be read with METRICS_HOST_ROOT. */
export interface FixtureHost extends Disposable {
  readonly root: string
  /** Writes a file below the root, with the folders that it needs. */
  write(path: string, text: string): void
  /** Sets the temperature of its only sensor, "coretemp Package id 0", in °C. */
  setTemperature(celsius: number): void
}

const FILES = {
  'etc/hostname': 'nas\n',
  'etc/os-release': 'NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n',
  'proc/uptime': '7200.50 14000.00\n',
  'proc/loadavg': '0.52 0.58 0.59 1/467 12345\n',
  'proc/cpuinfo':
    'processor : 0\nmodel name : Intel(R) N100\nflags : fpu vme\nprocessor : 1\nmodel name : Intel(R) N100\n',
  'proc/stat':
    'cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 50 0 50 350 50 0 0 0 0 0\ncpu1 50 0 50 350 50 0 0 0 0 0\nintr 1\n',
  'proc/meminfo':
    'MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:   12000000 kB\nSwapTotal:       2000000 kB\nSwapFree:        1500000 kB\n',
  'proc/net/dev': 'Inter-| Receive | Transmit\n face |bytes | bytes\neth9: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n',
  'proc/1/net/dev':
    'Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes    packets\n    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n' +
    '  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0\nveth12ab@if3: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n',
  'proc/1/mountinfo':
    '22 1 0:21 / /proc rw - proc proc rw\n23 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n' +
    '24 23 8:17 / /srv/media rw - ext4 /dev/sdb1 rw\n25 23 0:30 / /run rw - tmpfs tmpfs rw\n',
  'srv/media/.keep': '',
  'sys/class/hwmon/hwmon0/name': 'coretemp\n',
  'sys/class/hwmon/hwmon0/temp1_label': 'Package id 0\n',
  'sys/class/hwmon/hwmon0/temp1_input': '47000\n',
  'sys/class/hwmon/hwmon0/temp1_crit': '105000\n',
  'sys/block/sda/size': '1000215216\n',
  'sys/block/sda/queue/rotational': '0\n',
  'sys/block/sda/device/model': 'Samsung SSD 870 EVO 500GB\n',
  'sys/block/loop0/size': '8\n',
}

export function createFixtureHost(): FixtureHost {
  const root = mkdtempSync(join(tmpdir(), 'fixture-host-'))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, text] of Object.entries(FILES)) write(path, text)
  return {
    root,
    write,
    setTemperature: celsius => write('sys/class/hwmon/hwmon0/temp1_input', `${Math.round(celsius * 1000)}\n`),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}
