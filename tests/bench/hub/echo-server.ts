// The server that the benchmark calls: over stdio, or over HTTP with the argument `http`; for clients of both
// eras.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const tools = [
  {
    name: 'echo',
    description: 'Says what it is told',
    inputSchema: {
      type: 'object' as const,
      properties: { text: { type: 'string', description: 'What to say' } },
      required: ['text'],
    },
  },
]

function createEcho(): Server {
  const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.['text']) }],
  }))
  return server
}

if (process.argv[2] === 'http') {
  const handle = toNodeHandler(createMcpHandler(createEcho))
  const server = createServer(
    (request, response) => void handle(request as Parameters<typeof handle>[0], response),
  )
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`)
  })
} else {
  serveStdio(createEcho)
}
