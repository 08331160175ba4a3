import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { until } from './until.ts'

export interface ProgramOptions {
  cwd?: string
  /** Variables besides those of `base`. */
  env?: Record<string, string>
  /** Basic variables; the default is this process's own. */
  base?: Record<string, string | undefined>
  /** True if its standard input stays open until it is closed; by default it has none. */
  input?: boolean
}

interface Ending {
  /** The exit code as in a shell: 128 and the signal's number after a signal. */
  code: number | null
  signal: NodeJS.Signals | null
}

/** A process that leads its own group, with its output. Disposing kills the whole group. */
export interface Program extends AsyncDisposable {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  /** Resolves when it has ended and all its output was read. */
  readonly ended: Promise<Ending>
  /** Resolves with the first match in its earlier or later stdout. */
  says(pattern: RegExp, within?: number): Promise<RegExpExecArray>
  /** Sends a signal to the process, or to its whole group, as a terminal or a service manager does. */
  signal(signal: NodeJS.Signals, whom?: 'alone' | 'group'): void
}

export async function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Program> {
  const { cwd, env = {}, base = process.env, input = false } = options
  const child = spawn(command, args, {
    detached: true,
    env: { ...base, ...env },
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const wrote = new EventEmitter()
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece
      wrote.emit('text')
    })
  }
  const ended = once(child, 'close').then(([code, signal]: (number | NodeJS.Signals | null)[]) => {
    wrote.emit('text')
    return { code, signal } as Ending
  })
  await once(child, 'spawn')
  const { pid } = child
  if (pid === undefined) throw new Error(`${command} did not start`)
  return {
    child,
    pid,
    get stdout() {
      return text.stdout
    },
    get stderr() {
      return text.stderr
    },
    ended,
    says: (pattern, within) => sayOf(child, pattern, text, { wrote, ...(within ? { within } : {}) }),
    signal: (signal, whom = 'alone') => process.kill(whom === 'group' ? -pid : pid, signal),
    async [Symbol.asyncDispose]() {
      killGroup(pid)
      child.stdin?.destroy()
      await ended
    },
  }
}

async function sayOf(
  child: ChildProcess,
  pattern: RegExp,
  text: { stdout: string; stderr: string },
  options: { wrote: EventEmitter; within?: number },
): Promise<RegExpExecArray> {
  const { wrote, ...limit } = options
  const look = () => {
    const match = pattern.exec(text.stdout)
    if (match) return match
    if (child.exitCode === null && child.signalCode === null) return undefined
    throw new Error(`It ended (${child.exitCode ?? child.signalCode}) without saying ${pattern}`)
  }
  const on = (again: () => void) => {
    wrote.on('text', again)
    return () => wrote.off('text', again)
  }
  try {
    return await until(`it says ${pattern}`, look, { on, ...limit })
  } catch (error) {
    throw new Error(`${(error as Error).message}. It wrote:\n${text.stdout}${text.stderr}`, { cause: error })
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
