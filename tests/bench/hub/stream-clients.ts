import { get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { startProgram } from '../../support/program.ts'
import { openLanes, toLines } from './http-connection.ts'
import {
  type Era,
  HEADERS,
  INITIALIZE,
  INITIALIZED,
  type RawClient,
  resultOf,
  toRequest,
} from './raw-client.ts'

/** Starts a process and opens a client over its standard streams. */
export async function openStdioClient(
  era: Era,
  command: string,
  args: readonly string[],
): Promise<RawClient & { pid: number }> {
  const program = await startProgram(command, args, { input: true })
  const { stdin, stdout } = program.child
  if (!stdin || !stdout) throw new Error('The process has no streams')
  const asked = createAsked(stdout)
  readLines(stdout, line => asked.settle(line))
  const send: RawClient['send'] = (method, params) =>
    asked.ask(id => stdin.write(`${toRequest(era, id, method, params)}\n`))
  if (era === 'legacy') {
    resultOf(await send('initialize', INITIALIZE, 0))
    stdin.write(`${INITIALIZED}\n`)
  }
  return { pid: program.pid, send, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
}

/** Opens a client over the old HTTP with SSE: it posts requests, and all answers come on one stream. */
export async function openSseClient(address: string): Promise<RawClient> {
  const url = new URL(address)
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { Accept: 'text/event-stream' }, agent: false }, resolve).on('error', reject)
  })
  const asked = createAsked(stream)
  const endpoint = Promise.withResolvers<string>()
  readLines(stream, line => {
    if (!line.startsWith('data: ')) return
    const data = line.slice('data: '.length)
    if (data.startsWith('{')) asked.settle(data)
    else endpoint.resolve(data)
  })
  const lanes = await openLanes(url)
  const path = await endpoint.promise
  const headers = toLines(HEADERS)
  const post = (lane: number, body: string) => lanes.post(lane, headers, body, path)
  const send: RawClient['send'] = (method, params, lane) =>
    asked.ask(id => post(lane, toRequest('legacy', id, method, params)))
  resultOf(await send('initialize', INITIALIZE, 0))
  await post(0, INITIALIZED)
  return {
    send,
    async [Symbol.asyncDispose]() {
      lanes.close()
      stream.destroy()
    },
  }
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream }).on('line', onLine)
}

/** Matches the answers on one stream to their requests, which reject when the stream ends. */
function createAsked(stream: Readable) {
  const waiting = new Map<number, { resolve(answer: Buffer): void; reject(error: Error): void }>()
  let last = 0
  stream.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The stream of the answers ended'))
  })
  return {
    /** Resolves when the request is sent and answered. */
    async ask(send: (id: number) => unknown): Promise<Buffer> {
      const id = ++last
      const { promise, ...settle } = Promise.withResolvers<Buffer>()
      waiting.set(id, settle)
      const [answer] = await Promise.all([promise, send(id)])
      return answer
    },
    settle(text: string): void {
      const { id } = JSON.parse(text) as { id?: number }
      if (id === undefined) return
      waiting.get(id)?.resolve(Buffer.from(text))
      waiting.delete(id)
    },
  }
}
