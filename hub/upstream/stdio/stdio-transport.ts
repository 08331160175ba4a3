import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type JSONRPCMessage, SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client'
import { createRedact, isSecretName, type Redact } from '../../../schemas/redact.ts'
import type { Clock } from '../../core/clock.ts'
import { isObject } from '../../core/forwarding.ts'
import { parseJson } from '../../core/json.ts'
import { listHidden } from '../../core/mask-secrets.ts'
import {
  createFloodMeter,
  describeOverlong,
  FLOOD_PAUSE_MS,
  LONGEST_MESSAGE,
  MOST_UNSENT,
} from '../bounds.ts'
import { type Child, endChild, type StdioCommand, startChild } from './child.ts'
import { ExitTail } from './exit-tail.ts'
import { createLineCutter } from './lines.ts'
import { createMemoryCheck, defaultMemory, describeOverMemory, type MemoryCheck } from './memory-check.ts'

/** The longest line of a server's log that is kept, bytes. */
const LONGEST_LOG_LINE = 2_000
/** The most lines of a chunk that are no messages; a chunk with more is a flood. */
const MOST_STRAY_LINES = 500
/** The most bytes of a chunk of log, a larger one being a flood, and the most of its lines that are kept. */
const LARGEST_LOG_CHUNK = 32 * 1024
const MOST_LOG_LINES = 100
/** Milliseconds to wait for the end of a process whose pipe broke, to learn how it ended. */
const LONGEST_END_MS = 1_000

export interface ChildEvents {
  /** Called when the process runs; the returned function is called once its whole group is gone. */
  onStarted(pid: number): () => void
  /** Called with a line of its log. */
  onStderr(line: string): void
  /** Called with the first line of a chunk that is no message, written where messages belong. */
  onStray(line: string): void
  /** Called with the reason, before `onclose`, when the process is gone. */
  onGone(why: string): void
}

type StdioTransport = Transport & { readonly stderr: null; readonly pid: number | null }

/**
 * Creates the transport to a child process that speaks MCP on its standard streams. `close` resolves when the
 * child and all that it started are gone; it may be called often. The SDK's own transport leaves
 * grandchildren behind and loses progress that comes in one piece with the result, hence this one.
 */
export function createStdioTransport(command: StdioCommand, clock: Clock, told: ChildEvents): StdioTransport {
  const exitTail = new ExitTail()
  const redact = createRedact(secretsOf(command))
  let child: Child | undefined
  let closing: Promise<void> | undefined
  let fault: string | undefined
  let memory: MemoryCheck | undefined
  const transport: Transport & { readonly stderr: null; pid: number | null } = {
    // The SDK takes a transport with these two names for stdio, where a silent probe means a legacy server.
    stderr: null,
    pid: null,
    start: async () => {
      if (closing) throw new SdkError(SdkErrorCode.NotConnected, 'The transport was closed')
      child = startChild(command, clock)
      const { process: started, gone } = child
      const release = started.pid === undefined ? undefined : told.onStarted(started.pid)
      memory = checkMemory(started, command, clock, end)
      for (const stream of started.stdio) stream?.on('error', error => transport.onerror?.(error))
      // No answer can come any more, although the process may go on.
      started.stdout?.once('end', () => void transport.close())
      if (started.stdout) readMessages(started.stdout, clock, transport, { ...told, isAwaited, end, redact })
      if (started.stderr) {
        readLog(started.stderr, { clock, redact }, line => {
          exitTail.add(line)
          told.onStderr(line)
        })
      }
      void gone.then(how => {
        release?.()
        child = undefined
        transport.pid = null
        told.onGone(describeEnd(how))
        transport.onclose?.()
      })
      await once(started, 'spawn')
      started.on('error', error => transport.onerror?.(error))
      transport.pid = started.pid ?? null
    },
    send: async message => {
      const input = child?.process.stdin
      if (closing || !input?.writable) throw await whyNotSent()
      if (input.writableLength > MOST_UNSENT) throw new Error('The server does not read what it is sent')
      memory?.onActive()
      if ('method' in message && 'id' in message) awaited++
      try {
        await write(input, `${JSON.stringify(message)}\n`)
      } catch (error) {
        throw isBrokenPipe(error) ? await whyNotSent() : error
      }
    },
    close: () => {
      closing ??= child ? endChild(child, clock) : Promise.resolve()
      return closing
    },
  }
  /** Requests without an answer yet: a message that answers one of them does not count as a flood. */
  let awaited = 0
  const isAwaited = (message: JSONRPCMessage) => {
    if ('method' in message || awaited === 0) return false
    awaited--
    return true
  }
  /** Returns how the process ended, which says more than a broken pipe and is known a moment later. */
  const whyNotSent = async () => {
    if (!child) return new SdkError(SdkErrorCode.NotConnected, 'The server process is gone')
    const { promise, resolve } = Promise.withResolvers<string>()
    const cancel = clock.after(LONGEST_END_MS, () => resolve('its process reads no more requests'))
    const how = await Promise.race([child.gone, promise])
    cancel()
    return new SdkError(SdkErrorCode.ConnectionClosed, describeEnd(how))
  }
  const describeEnd = (how: string) => fault ?? (exitTail.text ? `${how}: ${exitTail.text}` : how)
  const end = (why: string) => {
    fault = why
    void transport.close()
  }
  return transport
}

/** Ends a server that uses more memory than it may. */
function checkMemory(
  child: Child['process'],
  { memory: limit = defaultMemory() }: StdioCommand,
  clock: Clock,
  end: (why: string) => void,
): MemoryCheck | undefined {
  const { pid, stdout, stderr } = child
  if (pid === undefined) return undefined
  const check = createMemoryCheck(clock, { pid, limit }, used => end(describeOverMemory(used, limit)))
  for (const stream of [stdout, stderr]) stream?.on('data', check.onActive)
  child.once('exit', check.stop)
  return check
}

/** Writes what arrives in one round of I/O at once: one write costs as much for one message as for many. */
function write(stream: Writable, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.cork()
  stream.write(text, error => (error ? reject(error) : resolve()))
  setImmediate(() => stream.uncork())
  return promise
}

interface MessageHooks extends Pick<ChildEvents, 'onStray'> {
  isAwaited: (message: JSONRPCMessage) => boolean
  /** Ends the connection, with the reason. */
  end: (why: string) => void
  redact: Redact
}

function readMessages(
  stdout: Readable,
  clock: Clock,
  transport: Transport,
  { isAwaited, end, onStray, redact }: MessageHooks,
): void {
  const lines = createLineCutter(LONGEST_MESSAGE)
  const arrived: JSONRPCMessage[] = []
  const isFlood = createFloodMeter(clock)
  let delivering = false
  const deliver = async () => {
    if (delivering) return
    delivering = true
    for (let message = arrived.shift(); message; message = arrived.shift()) {
      try {
        transport.onmessage?.(message)
      } catch (error) {
        transport.onerror?.(toError(error))
      }
      // The SDK handles a notification later than a response: without this the last progress is lost.
      await Promise.resolve()
    }
    delivering = false
  }
  stdout.on('data', (chunk: Buffer) => {
    const stray: Buffer[] = []
    const unasked = { messages: 0, lines: 0, bytes: 0 }
    lines.cut(chunk, line => {
      const message = toMessage(line)
      if (message) arrived.push(message)
      else if (line.length > 0) stray.push(line)
      if (message && isAwaited(message)) return
      unasked.messages += message ? 1 : 0
      unasked.lines++
      unasked.bytes += line.length
    })
    void deliver()
    if (stray[0]) {
      const beginning = redact(stray[0].toString('utf8', 0, LONGEST_LOG_LINE))
      onStray(beginning)
      transport.onerror?.(describeStray(stray.length, beginning))
    }
    if (isFlood(unasked) || stray.length > MOST_STRAY_LINES) pause(stdout, clock)
    if (lines.overlong) end(describeOverlong())
  })
}

function describeStray(count: number, beginning: string): Error {
  return new Error(`${count} lines on standard output that are no messages, the first: ${beginning}`)
}

/** Parses the message of a line; undefined for anything else that a server writes on the same stream. */
function toMessage(line: Buffer): JSONRPCMessage | undefined {
  // The first byte tells most stray lines apart: to parse each of a flood would block the hub.
  if (line[0] !== 0x7b && line[0] !== 0x20) return undefined
  const message = parseJson(line.toString('utf8'))
  return isObject(message) && message['jsonrpc'] === '2.0' ? (message as JSONRPCMessage) : undefined
}

/** Characters of the shortest value that is looked for in texts. */
const SHORTEST_SECRET = 8

/** Returns the secrets that a server is given: in variables that go by such a name, and as arguments. */
function secretsOf({ env, args }: StdioCommand): string[] {
  const variables = Object.entries(env).filter(([name]) => isSecretName(name))
  return [...variables.map(([, value]) => value), ...listHidden(args)].filter(
    ({ length }) => length >= SHORTEST_SECRET,
  )
}

/** Reads lines of a log, without the server's secrets: who fails tends to print what it was given. */
function readLog(
  stderr: Readable,
  { clock, redact }: { clock: Clock; redact: Redact },
  onLine: (line: string) => void,
): void {
  const lines = createLineCutter(LONGEST_LOG_LINE)
  const isFlood = createFloodMeter(clock)
  stderr.on('data', (chunk: Buffer) => {
    let count = 0
    lines.cut(chunk, line => {
      if (line.length > 0 && ++count <= MOST_LOG_LINES) onLine(redact(line.toString('utf8').trimEnd()))
    })
    if (count > MOST_LOG_LINES) onLine(`(${count - MOST_LOG_LINES} more lines)`)
    if (isFlood({ messages: count, bytes: chunk.length }) || chunk.length > LARGEST_LOG_CHUNK)
      pause(stderr, clock)
  })
}

function pause(stream: Readable, clock: Clock): void {
  stream.pause()
  clock.after(FLOOD_PAUSE_MS, () => stream.resume())
}

function isBrokenPipe(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
  )
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
