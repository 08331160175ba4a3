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

/** Over the standard streams of a process that it starts. */
export async function openStdioClient(
  era: Era,
  command: string,
  args: readonly string[],
): Promise<RawClient & { pid: number }> {
  const program = await startProgram(command, args, { input: true })
  const { stdin, stdout } = program.child
  if (!stdin || !stdout) throw new Error('The process has no streams')
  const asked = createAsked()
  readLines(stdout, line => asked.settle(line))
  const send: RawClient['send'] = (method, params) =>
    asked.ask(id => stdin.write(`${toRequest(era, id, method, params)}\n`))
  if (era === 'legacy') {
    resultOf(await send('initialize', INITIALIZE, 0))
    stdin.write(`${INITIALIZED}\n`)
  }
  return { pid: program.pid, send, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
}

/** Over the old HTTP with SSE: requests are posted, and all answers come on one stream. */
export async function openSseClient(address: string): Promise<RawClient> {
  const url = new URL(address)
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { Accept: 'text/event-stream' }, agent: false }, resolve).on('error', reject)
  })
  const asked = createAsked()
  const endpoint = Promise.withResolvers<string>()
  readLines(stream, line => {
    if (!line.startsWith('data: ')) return
    const data = line.slice('data: '.length)
    if (data.startsWith('{')) asked.settle(data)
    else endpoint.resolve(data)
  })
  const lanes = await openLanes(url)
  const path = await endpoint.promise
  const post = (lane: number, body: string) => lanes.post(lane, toLines(HEADERS), body, path)
  const send: RawClient['send'] = async (method, params, lane) => {
    let posted: Promise<unknown> | undefined
    const answer = asked.ask(id => {
      posted = post(lane, toRequest('legacy', id, method, params))
    })
    await posted
    return answer
  }
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

/** Requests that wait for their answers among others on one stream. */
function createAsked() {
  const waiting = new Map<number, (answer: Buffer) => void>()
  let last = 0
  return {
    ask(send: (id: number) => void): Promise<Buffer> {
      const id = ++last
      return new Promise(resolve => {
        waiting.set(id, resolve)
        send(id)
      })
    },
    settle(text: string): void {
      const { id } = JSON.parse(text) as { id?: number }
      if (id === undefined) return
      waiting.get(id)?.(Buffer.from(text))
      waiting.delete(id)
    },
  }
}
