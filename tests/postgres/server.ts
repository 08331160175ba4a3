import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install } from '../real/setup/packages.ts'

const PROGRAMS = '/usr/lib/postgresql'
/** Nothing that a test stores has to survive a loss of power. */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=400', 'listen_addresses=127.0.0.1']

/** A PostgreSQL of its own, in its own folder. Disposing ends it and removes the folder. */
export interface PostgresServer extends Disposable {
  /** `postgres://user@host:port` */
  readonly url: string
  stop(): void
  start(): void
}

/** Starts Debian's PostgreSQL on loopback; installs it if it is missing. */
export async function startServer(): Promise<PostgresServer> {
  if (!existsSync(PROGRAMS)) install(['postgresql'])
  const [version = ''] = readdirSync(PROGRAMS).sort((one, other) => Number(other) - Number(one))
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-postgres-'))
  const user = process.getuid?.() === 0 ? 'postgres' : undefined
  if (user) chownSync(folder, Number(idOf('-u', user)), Number(idOf('-g', user)))
  const run = (program: string, ...args: string[]) => {
    const command = [join(PROGRAMS, version, 'bin', program), ...args]
    const [file = '', ...rest] = user ? ['setpriv', ...asUser(user), ...command] : command
    execFileSync(file, rest, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const data = join(folder, 'data')
  const port = await freePort()
  const options = [...SETTINGS, `port=${port}`, `unix_socket_directories=${folder}`]
  const start = () =>
    run(
      'pg_ctl',
      '-D',
      data,
      '-w',
      '-l',
      join(folder, 'log'),
      '-o',
      options.map(one => `-c ${one}`).join(' '),
      'start',
    )
  const stop = () => run('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop')
  run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync')
  start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}`,
    start,
    stop,
    [Symbol.dispose]() {
      stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function asUser(user: string): string[] {
  return [`--reuid=${user}`, `--regid=${user}`, '--clear-groups']
}

function idOf(which: string, user: string): string {
  return execFileSync('id', [which, user], { encoding: 'utf8' }).trim()
}

async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = createServer().once('error', reject)
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
  })
  return promise
}
