import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createMcp } from './mcp.ts'

const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
})

/** Starts an MCP server of the SDK that requires a token, as the hub does. */
async function startServer(responseMode: 'auto' | 'sse' | 'json') {
  const heard: IncomingMessage['headers'][] = []
  const mcp = toNodeHandler(createMcpHandler(createToolServer, { responseMode, legacy: 'reject' }))
  const server = createServer((request, response) => {
    heard.push(request.headers)
    if (request.headers.authorization === 'Bearer right') return void mcp(request, response)
    response.writeHead(request.headers.authorization === 'Bearer member' ? 403 : 401).end('no')
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, heard }
}

function createToolServer() {
  const server = new McpServer({ name: 'hub', version: '1.0.0' })
  server.registerTool('hub_echo', { inputSchema: z.object({ word: z.string() }) }, ({ word }) => ({
    content: [{ type: 'text', text: word }],
    structuredContent: { word },
  }))
  server.registerTool('hub_text', { inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: '{"only":"text"}' }],
  }))
  server.registerTool('hub_fail', { inputSchema: z.object({}) }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'No schedule s1.' }],
  }))
  return server
}

describe.each(['auto', 'sse', 'json'] as const)('against the SDK, answers as %s', mode => {
  test('calls tools statelessly, with the headers of 2026-07-28', async () => {
    const { url, heard } = await startServer(mode)
    const mcp = createMcp({ url, token: 'right' })
    expect(await mcp.call('hub_echo', { word: 'grüße' })).toEqual({ word: 'grüße' })
    expect(await mcp.call('hub_text')).toEqual({ only: 'text' })
    expect(heard).toHaveLength(2)
    expect(heard[0]).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'hub_echo',
    })
  })

  test('discovers', async () => {
    const { url } = await startServer(mode)
    expect(await createMcp({ url, token: 'right' }).discover()).toHaveProperty('supportedVersions')
  })

  test.each([
    ['hub_fail', {}, 'tool', /No schedule s1/],
    ['hub_none', {}, 'protocol', /hub_none/],
  ] as const)('%s fails with words', async (name, args, kind, words) => {
    const { url } = await startServer(mode)
    const failure = createMcp({ url, token: 'right' }).call(name, args)
    await expect(failure).rejects.toMatchObject({ kind, message: expect.stringMatching(words) })
  })
})

test.each([
  ['wrong', 'unauthorized'],
  ['member', 'forbidden'],
])('the token %s is %s', async (token, kind) => {
  const { url } = await startServer('auto')
  await expect(createMcp({ url, token }).discover()).rejects.toMatchObject({ kind })
})

test('a hub that is not there is unreachable', async () => {
  const mcp = createMcp({ url: 'http://127.0.0.1:9/mcp', token: 'right' })
  await expect(mcp.discover()).rejects.toMatchObject({ kind: 'unreachable' })
})
