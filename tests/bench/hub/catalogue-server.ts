// Serves many servers with many tools each, every server at its own path.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { MOST, toCatalogueTool } from './catalogue-tool.ts'

function createHandler(server: number) {
  const tools = Array.from({ length: MOST.tools }, (_, tool) => toCatalogueTool(server, tool))
  return toNodeHandler(
    createMcpHandler(() => {
      const served = new Server(
        { name: `server-${server}`, version: '1.0.0' },
        { capabilities: { tools: {} } },
      )
      served.setRequestHandler('tools/list', () => ({ tools }))
      served.setRequestHandler('tools/call', ({ params }) => ({
        content: [{ type: 'text', text: params.name }],
      }))
      return served
    }),
  )
}

const handlers = Array.from({ length: MOST.servers }, (_, server) => createHandler(server))
type Request = Parameters<(typeof handlers)[number]>[0]

const listening = createServer((request, response) => {
  const handle = handlers[Number(request.url?.slice(1))]
  if (handle) void handle(request as Request, response)
  else response.writeHead(404).end()
})
listening.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(listening.address() as AddressInfo).port}\n`)
})
