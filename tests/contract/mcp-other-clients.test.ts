import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launcher, start } from '../support/cli.ts'
import { LINES, openClient, textOf } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { childrenOf, untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

/** Returns the path of a program in an npm package. */
function program(name: string, file: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file)
}
const INSPECTOR = program('@modelcontextprotocol/inspector', 'clients/launcher/build/index.js')
const MCP_REMOTE = program('mcp-remote', 'dist/proxy.js')

let hub: TestHub

beforeAll(async () => {
  hub = await startTestHub({ config: JSON.stringify({ servers: { odd: odd().entry } }) })
  await untilReady(hub, 'odd', 'metrics')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

describe('the official inspector', () => {
  const overHttp = () => [
    `${hub.url}/mcp`,
    '--transport',
    'http',
    '--header',
    `Authorization: Bearer ${hub.token}`,
  ]
  const overStdio = () => ['-e', `SUPERBLOOM_DATA=${hub.dataFolder}`, 'node', launcher, 'mcp']

  async function inspect(target: string[], ...args: string[]) {
    await using inspector = start('node', [INSPECTOR, '--cli', ...target, ...args], {
      variables: { HOME: hub.folder },
    })
    const { code, stdout, stderr } = await inspector.ended()
    return { code, stderr, result: code === 0 ? JSON.parse(stdout) : undefined }
  }

  test.each([
    ['over HTTP', overHttp],
    ['over stdio', overStdio],
  ])('lists and calls %s', async (_name, target) => {
    const listed = await inspect(target(), '--method', 'tools/list', '--strict')
    expect(listed.stderr).toMatch(/\b0 errors,/)
    expect(listed.stderr).not.toContain('`type` is an array')
    expect(listed.code).toBe(0)
    const names = listed.result.tools.map((tool: { name: string }) => tool.name)
    expect(names).toEqual(expect.arrayContaining(['hub_chat', 'get_system_metrics', 'odd__pid']))
    const echoed = await inspect(target(), '--method', 'tools/call', '--tool-name', 'odd__swallow')
    expect(echoed).toMatchObject({ code: 0, result: { content: [{ text: 'swallowed' }] } })
    const chat = ['--tool-name', 'hub_chat', '--tool-arg', 'message=/help', 'agent=homelab']
    expect((await inspect(target(), '--method', 'tools/call', ...chat)).result).toMatchObject({
      structuredContent: {
        status: 'replied',
        conversation: expect.stringMatching(/^homelab\/mcp-(owner|mcp)$/),
      },
    })
  })

  test('is refused with a wrong token', async () => {
    const target = [`${hub.url}/mcp`, '--transport', 'http', '--header', 'Authorization: Bearer wrong']
    expect((await inspect(target, '--method', 'tools/list')).code).not.toBe(0)
  })
})

describe('mcp-remote', () => {
  test.each(LINES.slice(1))('bridges to /mcp for a client of %s that starts a process', async line => {
    const args = [
      MCP_REMOTE,
      `${hub.url}/mcp`,
      '--allow-http',
      '--header',
      `Authorization: Bearer ${hub.token}`,
    ]
    const env = { HOME: hub.folder, PATH: String(process.env['PATH']), MCP_REMOTE_CONFIG_DIR: hub.folder }
    const client = await openClient(line, { command: 'node', args, env })
    try {
      expect((await client.listTools()).map(({ name }) => name)).toContain('odd__pid')
      expect(textOf(await client.call('odd__swallow'))).toBe('swallowed')
      const chat = await client.call('hub_chat', { message: '/help' })
      expect(chat.structuredContent).toMatchObject({ status: 'replied' })
    } finally {
      await client[Symbol.asyncDispose]()
    }
    await until('the bridge is gone', () => !childrenOf().some(({ command }) => command.includes(MCP_REMOTE)))
  })
})
