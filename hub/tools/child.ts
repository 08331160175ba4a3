import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Clock } from '../core/clock.ts'

export interface StdioCommand {
  command: string
  args: string[]
  /** The child's whole environment. */
  env: Record<string, string>
  cwd?: string
}

/** How long a child may take to end by itself after its input closed, and again after SIGTERM. */
const GRACE_MS = 1_500
/** How long a child's last words may take to arrive after its end. */
const LAST_WORDS_MS = 200

const GROUPS = process.platform !== 'win32'

/** Starts a child with pipes that leads a process group of its own, so that it ends with all that it started. */
export function startChild(command: StdioCommand): ChildProcess {
  return spawn(command.command, command.args, {
    env: command.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: GROUPS,
    windowsHide: true,
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
  })
}

/** Ends what the child left of its group, and calls `run` once when its streams are read, or cannot be. */
export function onceGone(child: ChildProcess, clock: Clock, run: () => void): void {
  child.once('exit', () => {
    killGroup(child, 'SIGKILL')
    // A process that left the group may hold the pipes open for ever.
    const cancel = clock.after(LAST_WORDS_MS, () => {
      child.removeListener('close', onClose)
      closePipes(child)
      run()
    })
    const onClose = () => {
      cancel()
      run()
    }
    child.once('close', onClose)
  })
}

/** Resolves when the child and its group are gone: its input closed, then SIGTERM, then SIGKILL. */
export async function endChild(child: ChildProcess, clock: Clock): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit')
    child.stdin?.end()
    const cancels = [
      clock.after(GRACE_MS, () => killGroup(child, 'SIGTERM')),
      clock.after(2 * GRACE_MS, () => killGroup(child, 'SIGKILL')),
    ]
    await exited
    for (const cancel of cancels) cancel()
  }
  killGroup(child, 'SIGKILL')
  closePipes(child)
}

function closePipes(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
}

/** Signals the child and everything that it started; what is gone already, or not ours to signal, is left alone. */
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
