import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
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

const GROUPS = process.platform !== 'win32'

/**
 * A server as a child process that speaks MCP on its standard streams. The child leads a process group of its own,
 * and closing ends the whole group: input closed, then SIGTERM, then SIGKILL. `onStderr` gets its log line by line.
 * The SDK's own transport leaves grandchildren behind, hence this one.
 */
export function createStdioTransport(
  command: StdioCommand,
  clock: Clock,
  onStderr: (line: string) => void,
): Transport & { readonly stderr: null; readonly pid: number | null } {
  const buffer = new ReadBuffer()
  let child: ChildProcess | undefined
  const transport: Transport & { readonly stderr: null; pid: number | null } = {
    // The SDK takes a transport with these two names for stdio, where a silent probe means a legacy server.
    stderr: null,
    pid: null,
    start: async () => {
      const started = spawn(command.command, command.args, {
        env: command.env,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: GROUPS,
        windowsHide: true,
        ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      })
      child = started
      started.stdin?.on('error', error => transport.onerror?.(error))
      started.stdout?.on('data', chunk => receive(chunk))
      forEachLine(started, onStderr)
      onceGone(started, clock, () => {
        if (child === started) child = undefined
        transport.pid = null
        transport.onclose?.()
      })
      await once(started, 'spawn')
      started.on('error', error => transport.onerror?.(error))
      transport.pid = started.pid ?? null
    },
    send: async message => {
      const input = child?.stdin
      if (!input?.writable) throw new Error('The server process is gone')
      if (!input.write(serializeMessage(message as JSONRPCMessage))) await once(input, 'drain')
    },
    close: async () => {
      const ending = child
      child = undefined
      if (ending) await endChild(ending, clock)
      buffer.clear()
    },
  }
  const receive = (chunk: Buffer) => {
    try {
      buffer.append(chunk)
      for (let message = buffer.readMessage(); message; message = buffer.readMessage()) {
        transport.onmessage?.(message)
      }
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }
  return transport
}

/** How long a child's last words may take to arrive after its end. */
const LAST_WORDS_MS = 200

/** Ends what the child left of its group, and calls `run` once when its streams are read, or cannot be. */
function onceGone(child: ChildProcess, clock: Clock, run: () => void): void {
  child.once('exit', () => {
    killGroup(child, 'SIGKILL')
    const cancel = clock.after(LAST_WORDS_MS, () => {
      child.removeListener('close', onClose)
      run()
    })
    const onClose = () => {
      cancel()
      run()
    }
    child.once('close', onClose)
  })
}

async function endChild(child: ChildProcess, clock: Clock): Promise<void> {
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
  child.stdout?.destroy()
  child.stderr?.destroy()
}

/** Signals the child and everything that it started; one that is gone already is fine. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (GROUPS) process.kill(-child.pid, signal)
    else child.kill(signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

const LONGEST_LINE = 2_000

function forEachLine(child: ChildProcess, onLine: (line: string) => void): void {
  let rest = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    for (const line of lines) if (line.trim() !== '') onLine(line.slice(0, LONGEST_LINE))
  })
}
