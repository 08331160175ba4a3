import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createRecord } from '../support/until.ts'
import { decideReply, type ScriptedReply } from './script.ts'

/** Work that a hub gave to a program outside: which hub, and when, in milliseconds of `performance.now()`. */
export interface Work {
  by: string
  at: number
}

/** An OpenAI-compatible provider on loopback that records its requests. */
export interface Provider extends AsyncDisposable {
  readonly url: string
  /** Its requests for replies, each by the hub's key. */
  readonly requests: Work[]
  /** The replies that it has begun, in order. */
  readonly replies: ReturnType<typeof createRecord<ScriptedReply>>
  /** Selects replies that stop after their first piece. */
  holds: (reply: ScriptedReply) => boolean
  /** Returns milliseconds to wait before each piece of a reply. */
  delay: () => number
}

const line = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  line({ choices: [{ index: 0, delta, finish_reason }] })

function toChunks({ text, calls }: ScriptedReply): string[] {
  const words = text.split(/(?<= )/).map(content => chunk({ content }))
  const made = calls.map(({ id, ...fn }, index) =>
    chunk({ tool_calls: [{ index, id, type: 'function', function: fn }] }),
  )
  return [...words, ...made, chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'), line('[DONE]')]
}

export async function openProvider(): Promise<Provider> {
  const replies = createRecord<ScriptedReply>()
  const server = createServer(async (request, response) => {
    // A starting hub asks for the properties of its models.
    if (request.method === 'GET') return void response.writeHead(404).end()
    const by = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    provider.requests.push({ by, at: performance.now() })
    let body = ''
    for await (const part of request) body += part
    const reply = decideReply(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await stream(response, reply)
  })
  const provider: Provider = {
    url: '',
    requests: [],
    replies,
    holds: () => false,
    delay: () => 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  async function stream(response: ServerResponse, reply: ScriptedReply) {
    for (const [index, part] of toChunks(reply).entries()) {
      const wait = provider.delay()
      if (wait > 0) await pause(wait)
      response.write(part)
      if (index === 0) replies.add(reply)
      if (provider.holds(reply)) return
    }
    response.end()
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(provider, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` })
}
