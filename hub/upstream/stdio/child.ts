import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import type { Clock } from '../../core/clock.ts'
import { findProgram } from './sandbox.ts'

export interface StdioCommand {
  command: string
  args: string[]
  /** The child's whole environment. */
  env: Record<string, string>
  cwd?: string
  /** The sandbox's command line, which stands in front of the command. */
  wrap?: string[]
  /** The most bytes of memory that its processes may use together; the default if undefined. */
  memory?: number
}

/** Milliseconds that a child has to exit after its input closed, and again after SIGTERM. */
const GRACE_MS = 1_500
/** Milliseconds that a child's last output may take to arrive after its exit. */
const LAST_WORDS_MS = 200

const GROUPS = process.platform !== 'win32'

/** A child process that leads its own process group, so that it ends together with all that it started. */
export interface Child {
  readonly process: ChildProcess
  /** Resolves with how the child ended, once its group is gone and its streams are read or given up. */
  readonly gone: Promise<string>
}

/** Starts a child with pipes; its `error` event reports a failed start. */
export function startChild(command: StdioCommand, clock: Clock): Child {
  const { wrap = [], env, cwd } = command
  // Without its program the start shall fail as it does without a sandbox.
  const isWrapped = wrap.length > 0 && findProgram(command.command, env, cwd) !== undefined
  const [program = '', ...args] = [...(isWrapped ? wrap : []), command.command, ...command.args]
  const child = spawn(program, args, {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: GROUPS,
    windowsHide: true,
    ...(cwd === undefined ? {} : { cwd }),
  })
  const gone = Promise.withResolvers<string>()
  child.once('error', error => {
    if (child.pid === undefined) gone.resolve(describeNoStart(error, command))
  })
  child.once('exit', (code, ownSignal) => {
    killGroup(child, 'SIGKILL')
    const signal = ownSignal ?? (isWrapped ? toSignal(code) : undefined)
    const how = signal ? `its process was ended by ${signal}` : `its process ended with code ${code}`
    // A process that left the group may hold the pipes open for ever.
    const cancel = clock.after(LAST_WORDS_MS, () => {
      closePipes(child)
      gone.resolve(how)
    })
    child.once('close', () => {
      cancel()
      gone.resolve(how)
    })
  })
  return { process: child, gone: gone.promise }
}

/** Returns the signal that ended a server in a sandbox, as the sandbox's exit code tells it. */
function toSignal(code: number | null): string | undefined {
  const number = (code ?? 0) - 128
  return Object.entries(constants.signals).find(([, one]) => one === number)?.[0]
}

function describeNoStart(error: Error, { command, cwd }: StdioCommand): string {
  if (!('code' in error) || error.code !== 'ENOENT') return error.message
  if (cwd !== undefined && !existsSync(cwd)) return `its folder ${cwd} does not exist`
  return `the program ${command} was not found (ENOENT)`
}

/** Ends the child and its group by closing its input, then SIGTERM, then SIGKILL; resolves once gone. */
export async function endChild({ process: child, gone }: Child, clock: Clock): Promise<void> {
  child.stdin?.end()
  const cancels = [
    clock.after(GRACE_MS, () => killGroup(child, 'SIGTERM')),
    clock.after(2 * GRACE_MS, () => killGroup(child, 'SIGKILL')),
  ]
  await gone
  for (const cancel of cancels) cancel()
  closePipes(child)
}

function closePipes(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
}

/** Signals the child and everything that it started, except what left its group. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) signalProcess(GROUPS ? -child.pid : child.pid, signal)
}

/** Signals a process, or a group by its negative number; skips what is gone or may not be signalled. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error
  }
}
