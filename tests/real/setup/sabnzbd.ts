import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aptGet } from './packages.ts'
import { INSTALLED, type RealProgram, startReal } from './scratch.ts'

export const SABNZBD_KEY = '0123456789abcdef0123456789abcdef'
const CONTRIB = join(INSTALLED, 'contrib')

export interface SabnzbdOptions {
  /** The port of a news server on this machine; without it downloads stay in the queue. */
  newsPort?: number
  /** The IPv4 address at which it listens; default 127.0.0.1. */
  address?: string
  /** Returns how to start the program; default: Debian 12's 3.7. */
  program?: (
    args: string[],
    folder: string,
  ) => { command: string; args: string[]; env?: Record<string, string> }
  /** Converts the folder to the path that the program sees, if it differs. */
  inside?: (folder: string) => string
}

/** Starts SABnzbd in its own folder, without opening a page. */
export function startSabnzbd(options: SabnzbdOptions = {}): Promise<RealProgram> {
  const { newsPort, program = toDebian, inside = folder => folder, ...listens } = options
  return startReal({
    name: 'sabnzbd',
    ...listens,
    prepare({ folder, port, address }) {
      writeFileSync(join(folder, 'sabnzbd.ini'), toIni(`host = ${address}\nport = ${port}`, newsPort))
      const { env, ...start } = program(
        [
          '-f',
          join(inside(folder), 'sabnzbd.ini'),
          '-s',
          `${address}:${port}`,
          '-b',
          '0',
          '-l',
          '1',
          '--disable-file-log',
          '--console',
        ],
        folder,
      )
      return { ...start, ...(env ? { options: { env } } : {}) }
    },
    isReady: async url => (await fetch(`${url}/api?mode=version&output=json`)).ok,
  })
}

function toDebian(args: string[]) {
  const root = installSabnzbd()
  return {
    command: '/usr/bin/python3',
    args: ['-OO', join(root, 'usr/bin/sabnzbdplus'), ...args],
    env: { PYTHONPATH: join(root, 'usr/share/sabnzbdplus') },
  }
}

/**
 * Unpacks the package, which cannot be installed because it depends on the non-free unrar. Returns its
 * folder.
 */
export function installSabnzbd(): string {
  const root = join(INSTALLED, 'sabnzbd')
  if (existsSync(root)) return root
  const lists = join(CONTRIB, 'lists')
  mkdirSync(join(lists, 'partial'), { recursive: true })
  const sources = join(CONTRIB, 'sources.list')
  writeFileSync(sources, 'deb http://deb.debian.org/debian bookworm contrib\n')
  const own = [
    '-o',
    `Dir::Etc::sourcelist=${sources}`,
    '-o',
    'Dir::Etc::sourceparts=-',
    '-o',
    `Dir::State::lists=${lists}`,
  ]
  aptGet([...own, 'update', '-qq'])
  aptGet([...own, 'download', '-qq', 'sabnzbdplus'], CONTRIB)
  const file = readdirSync(CONTRIB).find(name => name.startsWith('sabnzbdplus_'))
  if (!file) throw new Error('apt-get downloaded no sabnzbdplus')
  rmSync(`${root}.new`, { recursive: true, force: true })
  execFileSync('dpkg', ['-x', join(CONTRIB, file), `${root}.new`])
  renameSync(`${root}.new`, root)
  return root
}

function toIni(listens: string, newsPort: number | undefined): string {
  const server =
    newsPort === undefined
      ? ''
      : `[servers]
[[lab]]
name = lab
displayname = lab
host = 127.0.0.1
port = ${newsPort}
connections = 2
ssl = 0
enable = 1
`
  return `__version__ = 19
__encoding__ = utf-8
[misc]
api_key = ${SABNZBD_KEY}
${listens}
auto_browser = 0
check_new_rel = 0
host_whitelist = localhost, 127.0.0.1
enable_unrar = 0
self_test_host = localhost
${server}`
}
