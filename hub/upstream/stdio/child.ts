import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Clock } from '../../core/clock.ts'

export interface StdioCommand {
  command: string
  args: string[]
  /** The child's whole environment. */
  env: Record<string, string>
  cwd?: string
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
  const child = spawn(command.command, command.args, {
    env: command.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: GROUPS,
    windowsHide: true,
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
  })
  const gone = Promise.withResolvers<string>()
  child.once('error', error => {
    if (child.pid === undefined) gone.resolve(describeNoStart(error, command))
  })
  child.once('exit', (code, signal) => {
    killGroup(child, 'SIGKILL')
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

/** Signals the child and everything that it started; skips what is gone or may not be signalled. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (GROUPS) process.kill(-child.pid, signal)
    else child.kill(signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error
  }
}
