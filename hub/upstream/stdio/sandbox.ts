import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, isAbsolute, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { StdioCommand } from './child.ts'

/** Contains servers of others: they see neither the hub's data nor its secrets nor its processes. */
export interface Sandbox {
  /** Why it works for no server here; undefined where it works. */
  readonly why: string | undefined
  /** Returns what stands in front of a server's command; `folder` is a dropped-in server's own. */
  wrap(server: Pick<StdioCommand, 'env' | 'cwd'>, folder?: string): string[]
}

/** Absolute paths that a server in a sandbox does not see. */
export interface Hidden {
  dataFolder: string
  files: readonly string[]
}

interface Programs {
  bwrap: string
  env: string
  isRoot: boolean
}

const LONGEST_TRY_MS = 4_000
/** Programs that cannot gain the privileges that they need, as no program in a sandbox can. */
const NEED_PRIVILEGES = /^(?:docker|podman|nerdctl|sudo|doas)$/
/** Capabilities by which root would undo the sandbox, or read what is hidden past it. */
const UNDOING = ['SYS_ADMIN', 'SYS_PTRACE', 'SYS_MODULE', 'SYS_RAWIO', 'MKNOD', 'DAC_READ_SEARCH']

/** Tries once whether sandboxes work with the programs of this environment. `hidden` is asked for each server. */
export async function openSandbox(variables: Record<string, string>, hidden: () => Hidden): Promise<Sandbox> {
  const bwrap = findProgram('bwrap', variables)
  const env = findProgram('env', variables)
  if (process.platform !== 'linux' || !bwrap || !env) {
    const why = process.platform === 'linux' ? 'bubblewrap (bwrap) is not installed' : 'it needs Linux'
    return { why, wrap: () => [] }
  }
  const programs = { bwrap, env, isRoot: process.getuid?.() === 0 }
  const wrap: Sandbox['wrap'] = (server, folder) => toWrapper(programs, hidden(), server, folder)
  const [program = env, ...args] = wrap({ env: {} })
  try {
    await promisify(execFile)(program, [...args, 'true'], { timeout: LONGEST_TRY_MS, killSignal: 'SIGKILL' })
    return { why: undefined, wrap }
  } catch (error) {
    const { stderr, killed } = error as { stderr?: string; killed?: boolean }
    const said = killed ? 'it does not end' : stderr?.trim().split('\n').at(-1)
    return { why: `bubblewrap does not work here (${said || 'it fails'})`, wrap: () => [] }
  }
}

/**
 * Returns the command line of a sandbox. SIGTERM is for the server: bubblewrap would end at once and take the
 * server with it.
 */
export function toWrapper(
  { bwrap, env, isRoot }: Programs,
  { dataFolder, files }: Hidden,
  server: Pick<StdioCommand, 'env' | 'cwd'>,
  folder?: string,
): string[] {
  const data = toReal(dataFolder)
  const own = folder === undefined ? undefined : toReal(folder)
  const cwd = server.cwd === undefined ? undefined : toReal(server.cwd)
  const given = Object.values(server.env)
  const hidden = new Set(files.filter(file => !given.includes(file) && existsSync(file)).map(toReal))
  return [
    ...[env, '--ignore-signal=TERM', bwrap, '--dev-bind', '/', '/', '--tmpfs', data],
    ...(own === undefined ? [] : ['--bind', own, own]),
    ...(cwd !== undefined && isBelow(data, cwd) ? ['--dir', cwd] : []),
    ...[...hidden].flatMap(file => (isBelow(data, file) ? [] : ['--ro-bind', '/dev/null', file])),
    ...['--unshare-pid', '--proc', '/proc', '--die-with-parent'],
    ...(isRoot ? UNDOING.flatMap(name => ['--cap-drop', `CAP_${name}`]) : []),
    ...['--', env, '--default-signal=TERM'],
  ]
}

export function needsPrivileges(command: string): boolean {
  return NEED_PRIVILEGES.test(basename(command))
}

/** Returns a program's path, as starting it would find it; undefined where there is none. */
export function findProgram(
  name: string,
  { PATH = '' }: Record<string, string | undefined>,
  cwd = '.',
): string | undefined {
  const paths = name.includes('/')
    ? [resolve(cwd, name)]
    : PATH.split(delimiter).map(folder => resolve(cwd, folder, name))
  return paths.find(path => isFile(path) && isExecutable(path))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

/** Returns a path without symbolic links, over which nothing could be mounted. */
function toReal(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return !way.startsWith('..') && !isAbsolute(way)
}
