import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { createRecord } from '../support/until.ts'
import type { Work } from './provider.ts'

const EVENTS = 'events://probe'

/** A call that had its effect. `by` is the header `X-Hub` with which it came. */
export interface Effect extends Work {
  tool: string
  id: string
  key: string
}

/** An MCP server on loopback that counts its calls and raises events. */
export interface ToolServer extends AsyncDisposable {
  readonly url: string
  readonly effects: ReturnType<typeof createRecord<Effect>>
  /** The `mark` of each event that it raised. */
  readonly raised: readonly string[]
  raise(mark: string): void
  /** If true, calls have their effect but get no answer. */
  hold: boolean
  /** Returns milliseconds to wait before a call's effect, and again before its answer. */
  delay: () => number
}

/** `change` and `guard` have no annotations, so they must not be repeated; `look` only reads. */
const TOOLS = [
  { name: 'change', annotations: {} },
  { name: 'guard', annotations: {} },
  { name: 'look', annotations: { readOnlyHint: true } },
].map(tool => ({
  ...tool,
  inputSchema: { type: 'object' as const, properties: { id: { type: 'string' } }, required: ['id'] },
}))

export async function openToolServer(): Promise<ToolServer> {
  const effects = createRecord<Effect>()
  const events: { id: string; seq: number; type: string; key: string; payload: object; at: number }[] = []
  const caller = new AsyncLocalStorage<string>()
  const call = async (tool: string, id: string, key: string) => {
    const came = { by: caller.getStore() ?? '', at: performance.now() }
    await pause(served.delay())
    effects.add({ tool, id, key, ...came })
    await pause(served.delay())
    while (served.hold) await pause(5)
    return { content: [{ type: 'text' as const, text: `${tool} did ${id}` }] }
  }
  const handler = createMcpHandler(() => {
    const server = new Server(
      { name: 'probe', version: '1.0.0' },
      { capabilities: { tools: {}, resources: { subscribe: true } } },
    )
    server.setRequestHandler('tools/list', () => ({ tools: TOOLS }))
    server.setRequestHandler('tools/call', ({ params: { name, arguments: args, _meta } }) =>
      call(name, String(args?.['id']), String(_meta?.['superbloom/idempotencyKey'])),
    )
    server.setRequestHandler('resources/list', () => ({ resources: [{ uri: EVENTS, name: 'events' }] }))
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      const after = Number(/after=(\d+)/.exec(uri)?.[1] ?? 0)
      const feed = { stream: 'probe', cursor: events.length, events: events.filter(({ seq }) => seq > after) }
      return { contents: [{ uri, text: JSON.stringify(feed) }] }
    })
    return server
  })
  type Handle = (request: IncomingMessage, response: ServerResponse) => unknown
  const handle = toNodeHandler(handler) as Handle
  const http = createServer((request, response) =>
    caller.run(String(request.headers['x-hub'] ?? ''), () => handle(request, response)),
  )
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  const served = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    effects,
    raised: [] as string[],
    raise(mark: string) {
      served.raised.push(mark)
      const seq = events.length + 1
      events.push({
        id: `probe-${seq}`,
        seq,
        type: 'probe.tick',
        key: mark,
        payload: { mark },
        at: Date.now(),
      })
      handler.notify.resourceUpdated(EVENTS)
    },
    hold: false,
    delay: () => 0,
    async [Symbol.asyncDispose]() {
      served.hold = false
      await handler.close()
      http.closeAllConnections()
      await new Promise(resolve => http.close(resolve))
    },
  }
  return served
}
