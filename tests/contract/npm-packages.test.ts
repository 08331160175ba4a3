import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatMessage } from '../../schemas/chat.ts'
import { openChat } from '../support/chat-client.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { npmServer } from '../support/downstream.ts'
import { childrenOf, processesNaming, untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

/**
 * Milliseconds; by CONTRACT.md a server appears, or disappears, within 2 seconds of the file's change. A busy
 * machine gets ten times that.
 */
const LIMIT_MS = 20_000
const NONE = 'servers: { metrics: false }\n'

let hub: TestHub
let client: TestClient
let notes: string
let made = 0

beforeAll(async () => {
  hub = await startTestHub({ config: NONE })
  client = await openClient('sdk 2, 2026-07-28', hub)
  notes = join(hub.folder, 'notes')
  mkdirSync(notes)
  writeFileSync(join(notes, 'hello.txt'), 'hello from a file')
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const names = async () => (await client.listTools()).map(tool => tool.name)
const hasPrefix = async (prefix: string) => (await names()).some(name => name.startsWith(prefix))

/** Runs `act`, and waits until tools with this prefix appear or disappear. */
async function soon(what: string, act: () => unknown, prefix: string, there: boolean): Promise<void> {
  await act()
  await until(what, async () => (await hasPrefix(prefix)) === there, { within: LIMIT_MS })
}

/** Returns the agent's answer to one exact tool call in the chat. */
async function callInChat(tool: string, args: object): Promise<string> {
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  const answer = await chat.answerTo(await chat.say('homelab', `/call ${tool} ${JSON.stringify(args)}`))
  const [, approval] = /yes \(approval (apr_\w+)/.exec(answer.text) ?? []
  if (approval === undefined) return answer.text
  chat.send({ type: 'decide', approval, decision: 'approve' })
  const isEnd = ({ message: { author, data } }: { message: ChatMessage }) =>
    author === tool && data?.['approval'] === approval && data['status'] !== 'waiting'
  return (await chat.next('message', isEnd)).message.text
}

const CASES = [
  {
    name: 'everything',
    entry: () => npmServer('everything'),
    tools: 17,
    call: { tool: 'echo', args: () => ({ message: 'hi' }), says: 'Echo: hi' },
  },
  {
    name: 'filesystem',
    entry: () => npmServer('filesystem', notes),
    tools: 14,
    call: {
      tool: 'read_text_file',
      args: () => ({ path: join(notes, 'hello.txt') }),
      says: 'hello from a file',
    },
  },
  {
    name: 'memory',
    // Without its own file the server writes into its package.
    entry: () => ({
      ...npmServer('memory'),
      env: { MEMORY_FILE_PATH: join(notes, `memory-${++made}.json`) },
    }),
    tools: 9,
    call: {
      tool: 'create_entities',
      args: () => ({
        entities: [{ name: `NAS ${++made}`, entityType: 'machine', observations: ['has 4 disks'] }],
      }),
      says: 'has 4 disks',
    },
  },
] as const

describe.each(CASES)('$name, a server of others', ({ name, entry, tools, call }) => {
  const works = async () => {
    const prefix = `${name}__`
    expect((await names()).filter(tool => tool.startsWith(prefix))).toHaveLength(tools)
    const result = await client.call(`${prefix}${call.tool}`, call.args())
    expect(result.isError, textOf(result)).toBeFalsy()
    expect(textOf(result)).toContain(call.says)
    expect(await callInChat(`${prefix}${call.tool}`, call.args())).toContain(call.says)
  }

  test('dropped in as mcp.json while running, and taken out', async () => {
    const path = `servers/${name}/mcp.json`
    await soon(`${name} dropped in`, () => hub.writeData(path, JSON.stringify(entry())), `${name}__`, true)
    await works()
    const folder = join(hub.dataFolder, 'servers', name)
    await soon(`${name} taken out`, () => rmSync(folder, { recursive: true }), `${name}__`, false)
    await until(
      'its process is gone',
      () => !childrenOf().some(({ command }) => command.includes(`server-${name}`)),
    )
  })

  test.each(['servers', 'mcpServers'])(
    'added to the config under %s while running, and removed',
    async key => {
      const config = JSON.stringify({ servers: { metrics: false }, ...{ [key]: { [name]: entry() } } })
      const whole =
        key === 'servers' ? JSON.stringify({ servers: { metrics: false, [name]: entry() } }) : config
      await soon(`${name} added under ${key}`, () => hub.writeConfig(whole), `${name}__`, true)
      await works()
      await soon(`${name} removed from ${key}`, () => hub.writeConfig(NONE), `${name}__`, false)
      await until(
        'its process is gone',
        () => !childrenOf().some(({ command }) => command.includes(`server-${name}`)),
      )
    },
  )
})

describe('a program written by a person', () => {
  const program = (said: string) => `
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

interface Asked { name: string }

serveStdio(() => {
  const server = new McpServer({ name: 'hello', version: '1.0.0' })
  server.registerTool(
    'greet',
    { description: 'Greets', inputSchema: z.object({ name: z.string() }) },
    ({ name }: Asked) => ({ content: [{ type: 'text', text: \`${said} \${name}\` }] }),
  )
  return server
})
`

  test('server.ts finds the packages of the hub by bare name, is started anew when changed, and ends', async () => {
    const path = 'servers/hello/server.ts'
    const write = (said: string) => hub.writeData(path, program(said))
    await soon('server.ts dropped in', () => write('Hello'), 'hello__', true)
    const greet = async () => textOf(await client.call('hello__greet', { name: 'Ada' }))
    expect(await greet()).toBe('Hello Ada')
    expect(await callInChat('hello__greet', { name: 'Bob' })).toContain('Hello Bob')
    write('Good morning')
    await until('the new program answers', async () => (await greet()) === 'Good morning Ada', {
      within: LIMIT_MS,
    })
    const folder = join(hub.dataFolder, 'servers', 'hello')
    await soon('server.ts taken out', () => rmSync(folder, { recursive: true }), 'hello__', false)
    await until('its process is gone', () => processesNaming(folder).length === 0)
  })

  test('server.js and server.mjs too; what it writes into its folder starts nothing anew', async () => {
    const source = program('Hi').replace('interface Asked { name: string }', '').replace(': Asked', '')
    const log = `import { appendFileSync } from 'node:fs'\nappendFileSync('starts.log', 'started\\n')\n`
    hub.writeData('servers/one/server.mjs', log + source)
    hub.writeData('servers/two/server.js', source)
    hub.writeData('servers/two/package.json', '{"type":"module"}')
    await until('both are there', async () => (await hasPrefix('one__')) && (await hasPrefix('two__')))
    expect(textOf(await client.call('two__greet', { name: 'x' }))).toBe('Hi x')
    hub.writeData('servers/one/more.log', 'a line of its log\n')
    hub.writeData('servers/one/data/db.json', '{}')
    hub.writeData('servers/three/server.mjs', source)
    await until('a later one is there', () => hasPrefix('three__'))
    const ready = hub.logs.all.filter(({ event, server }) => event === 'server_ready' && server === 'one')
    expect(ready).toHaveLength(1)
  })
})
