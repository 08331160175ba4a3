import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { z } from 'zod'
import { parseJson } from '../../../hub/core/json.ts'

const message = z.object({
  method: z.string(),
  params: z
    .looseObject({
      protocolVersion: z.string().optional(),
      capabilities: z.record(z.string(), z.unknown()).optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
})

const MODERN_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/**
 * Forwards between a client and the hub, or an agent and its model, and records the traffic. Disposing cuts
 * every connection.
 */
export interface Wire extends AsyncDisposable {
  /** "http://127.0.0.1:40123". */
  readonly url: string
  /** Number of requests by method. */
  readonly asked: ReadonlyMap<string, number>
  /** The protocol version that the client used last. */
  readonly era: string | undefined
  /** The client's declared capabilities. */
  readonly capabilities: ReadonlySet<string>
  /** Every body that the client sent. */
  readonly sent: readonly string[]
  /** The text of all answers. */
  readonly answered: string
}

export async function openWire(hub: string): Promise<Wire> {
  const sent: string[] = []
  const asked = new Map<string, number>()
  const capabilities = new Set<string>()
  const seen: { era: string | undefined; answered: string } = { era: undefined, answered: '' }

  const note = (incoming: IncomingMessage, body: string) => {
    sent.push(body)
    const version = incoming.headers['mcp-protocol-version']
    if (typeof version === 'string') seen.era = version
    const { success, data } = message.safeParse(parseJson(body))
    if (!success) return
    asked.set(data.method, (asked.get(data.method) ?? 0) + 1)
    seen.era ??= data.params?.protocolVersion
    const modern = data.params?._meta?.[MODERN_CAPABILITIES]
    for (const name of Object.keys({ ...data.params?.capabilities, ...(modern ?? {}) }))
      capabilities.add(name)
  }
  const server = createServer(async (incoming, outgoing) => {
    const body = await readAll(incoming)
    note(incoming, body)
    forward(hub, incoming, { body, outgoing, onText: text => (seen.answered += text) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    sent,
    asked,
    capabilities,
    get era() {
      return seen.era
    },
    get answered() {
      return seen.answered
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += piece
  return text
}

interface Exchange {
  body: string
  outgoing: ServerResponse
  onText: (text: string) => void
}

/** Forwards one request and its answer unchanged; each side sees when the other disconnects. */
function forward(hub: string, incoming: IncomingMessage, { body, outgoing, onText }: Exchange): void {
  const { hostname, port, host } = new URL(hub)
  const { url: path, method } = incoming
  const onward = request({ hostname, port, path, method, headers: { ...incoming.headers, host } })
  outgoing.on('close', () => onward.destroy())
  onward.on('error', () => outgoing.destroy())
  onward.on('response', answer => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    outgoing.flushHeaders()
    answer.on('data', piece => onText(String(piece))).on('error', () => outgoing.destroy())
    answer.pipe(outgoing)
  })
  onward.end(body)
}
