import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launcher, runCli, startCli } from '../support/cli.ts'
import { LINES, openClient, type Target, type TestClient, textOf } from '../support/clients.ts'
import { type Configured, odd, recorder, untilReady } from '../support/downstream.ts'
import { isRunning, untilNoChildren } from '../support/processes.ts'
import { startProgram } from '../support/program.ts'
import { INITIALIZE } from '../support/raw-http.ts'
import { make } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const BUSY_CLIENT = join(import.meta.dirname, '..', 'fixtures', 'busy-client.ts')

let hub: TestHub
let rec: Configured

beforeAll(async () => {
  rec = recorder()
  hub = await startTestHub({
    config: JSON.stringify({
      servers: { metrics: false, rec: rec.entry, odd: odd().entry },
      toolsets: { small: ['rec__count'] },
    }),
  })
  await untilReady(hub, 'rec', 'odd')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  rec[Symbol.dispose]()
  await untilNoChildren()
})

/** A client's config: the launcher, run by some Node, with the data folder in its environment. */
function bridge(node = 'node'): Extract<Target, { command: string }> {
  const env = { PATH: String(process.env['PATH']), HOME: hub.folder, SUPERBLOOM_DATA: hub.dataFolder }
  return { command: node, args: [launcher, 'mcp'], env, cwd: hub.folder }
}

describe.each(LINES)('a client of %s that starts `superbloom mcp`', line => {
  let client: TestClient
  beforeAll(async () => {
    client = await openClient(line, bridge())
  })
  afterAll(() => client[Symbol.asyncDispose]())

  test('lists and calls the same tools as at /mcp', async () => {
    const token = await make(hub, 'hub_create_token', { name: `direct-${LINES.indexOf(line)}` })
    await using direct = await openClient(line, { url: hub.url, token })
    expect(await client.listTools()).toEqual(await direct.listTools())
    expect(textOf(await client.call('odd__swallow', { any: 1 }))).toBe('swallowed')
    expect((await client.call('hub_list_agents')).structuredContent).toMatchObject({
      agents: [{ name: 'homelab' }],
    })
    const wrong = await client.call('hub_cancel_schedule', {})
    expect(wrong.isError).toBe(true)
    expect(textOf(wrong)).toMatch(/^hub_cancel_schedule: id/)
    await expect(client.call('no_such_tool')).rejects.toMatchObject({ code: -32_602 })
  })

  test('talks with an agent and sees its tool activity', async () => {
    const seen: (string | undefined)[] = []
    const result = await client.call(
      'hub_chat',
      { message: '/call odd__pid {}' },
      { onProgress: ({ message }) => seen.push(message) },
    )
    expect(result.structuredContent).toMatchObject({
      status: 'replied',
      reply: expect.stringMatching(/`odd__pid` says:\s+\d+/),
    })
    expect(seen).toEqual(['odd__pid: started', 'odd__pid: ok'])
  })

  test('gets every progress notification, the last too', async () => {
    const seen: unknown[] = []
    await client.call('odd__steps', {}, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 2, 3])
  })

  test('cancels a call, and the server below hears of it', async () => {
    const abort = new AbortController()
    const name = `bridged ${line}`
    const call = client.call('rec__wait', { name }, { signal: abort.signal })
    await rec.recorded(`started ${name}`)
    abort.abort()
    await expect(call).rejects.toThrow()
    await rec.recorded(`cancelled ${name}`)
    expect(textOf(await client.call('odd__swallow'))).toBe('swallowed')
  })

  test('hears that the tools changed', async () => {
    const changes = await client.watchTools()
    await client.call('rec__grow', { name: `bridged-${line.replaceAll(/[^a-z0-9]+/g, '-')}` })
    await changes.find('the change is told', () => true)
  })

  test('goes on when the hub is restarted underneath, on another port', async () => {
    const before = hub.url
    const name = `cut ${line}`
    const cut = client.call('rec__wait', { name })
    await rec.recorded(`started ${name}`)
    await Promise.all([
      expect(cut).rejects.toThrow(/hub went away|hub did not answer|stopp|closed/i),
      hub.stop(),
    ])
    await expect(client.call('odd__swallow')).rejects.toThrow(/No hub runs on the data folder/)
    await hub.start()
    expect(hub.url).not.toBe(before)
    const calls = Array.from({ length: 5 }, () => client.call('odd__swallow'))
    expect((await Promise.all(calls)).map(textOf)).toEqual(calls.map(() => 'swallowed'))
    expect((await client.listTools()).length).toBeGreaterThan(9)
  })

  test('ends with its client', async () => {
    const other = await openClient(line, bridge())
    const { pid } = other
    expect(pid && isRunning(pid)).toBe(true)
    await other[Symbol.asyncDispose]()
    await until('the bridge is gone', () => pid !== null && !isRunning(pid))
  })
})

test('ends by itself with its input, before a client uses force', async () => {
  const { command, args, env } = bridge()
  await using program = await startProgram(command, args, { env, input: true })
  program.child.stdin?.write(`${INITIALIZE}\n`)
  await program.says(/"id":1,"result"/)
  program.child.stdin?.end()
  expect(await program.ended).toEqual({ code: 0, signal: null })
})

// A 2026-07-28 client takes no requests, so it cannot be asked whether it has read everything.
test.each(LINES.filter(line => line !== 'sdk 2, 2026-07-28'))(
  'a client of %s that does not read for a while gets every progress notification, the last too',
  async line => {
    const { command, args, env } = bridge()
    await using client = await startProgram(process.execPath, [BUSY_CLIENT, line, command, ...args], { env })
    await client.says(/^heard 1,2,3$/m)
  },
)

test('the same bridge, run above by the system’s older Node, runs on Node 24', async () => {
  expect(process.versions.node).toMatch(/^24\./)
  for (const line of LINES) {
    await using client = await openClient(line, bridge(process.execPath))
    expect((await client.listTools()).map(({ name }) => name)).toContain('hub_chat')
  }
})

describe('without a hub', () => {
  let stopped: TestHub
  afterEach(() => stopped[Symbol.asyncDispose]())

  test.each(['node', process.execPath])('`superbloom mcp` says so and ends with 1 (%s)', async node => {
    stopped = await startTestHub()
    await stopped.stop()
    const { code, stdout, stderr } = await runCli(['mcp'], { variables: stopped.variables, node })
    expect(stderr).toMatch(/^superbloom: No hub runs on the data folder .*data\. Start it with "npm start"/)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })
})

describe('--config', () => {
  const CLIENTS = ['claude-desktop', 'vscode', 'cursor', 'claude-code']

  test.each(CLIENTS)('%s prints what really starts it', async name => {
    const { code, stdout } = await runCli(['mcp', '--config', name], { variables: hub.variables })
    expect(code).toBe(0)
    const entry = name === 'claude-code' ? fromCommandLine(stdout) : fromJson(stdout)
    await using client = await openClient('sdk 1', {
      ...entry,
      env: { ...entry.env, PATH: String(process.env['PATH']), HOME: hub.folder },
      cwd: '/',
    })
    expect((await client.listTools()).map(tool => tool.name)).toContain('hub_chat')
  })

  test.each([
    [['--lean'], ['find_tools', 'call_tool']],
    [['--toolset', 'small'], ['rec__count']],
  ])('%j narrows what the client sees', async (options, seen) => {
    const { stdout } = await runCli(['mcp', '--config', 'cursor', ...options], { variables: hub.variables })
    const entry = fromJson(stdout)
    const env = { ...entry.env, PATH: String(process.env['PATH']), HOME: hub.folder }
    await using client = await openClient('sdk 1', { ...entry, env, cwd: '/' })
    expect((await client.listTools()).map(tool => tool.name)).toEqual(seen)
  })

  test('another client is refused with the ones there are', async () => {
    const { code, stderr } = await runCli(['mcp', '--config', 'emacs'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/emacs.*claude-desktop, claude-code, cursor, vscode/s)
  })

  function fromJson(text: string): { command: string; args: string[]; env: Record<string, string> } {
    const config = JSON.parse(text)
    return (config.mcpServers ?? config.servers).superbloom
  }

  /** Reads `claude mcp add superbloom --env NAME=VALUE -- command args…`, in a folder without blanks. */
  function fromCommandLine(text: string) {
    const [before = '', after = ''] = text.trim().split(' -- ')
    const [, variable = '', value = ''] = /--env (\w+)=(\S+)/.exec(before) ?? []
    const [command = '', ...args] = after.split(' ')
    return { command, args, env: { [variable]: value } }
  }
})

test('what goes wrong is said on stderr, never on stdout', async () => {
  await using running = startCli(['mcp'], { variables: hub.variables })
  running.stdin.write('this is no message\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  running.stdin.write('{"jsonrpc":"2.0","id":2,"method":"no/such/method","params":{}}\n')
  await running.says(/"id":2.*\n/)
  for (const line of running.stdout.trim().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  running.stdin.end()
  expect((await running.ended()).code).toBe(0)
})

test('what is written together with initialize is answered as if it came after its answer', async () => {
  await using running = startCli(['mcp'], { variables: hub.variables })
  const clientInfo = { name: 'pipelining', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const messages = [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ]
  running.stdin.write(messages.map(one => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''))
  const [line = ''] = await running.says(/^.*"id":2\b.*\n/m)
  const answers = running.stdout.split('\n').filter(text => /"id":[12]\b/.test(text))
  expect(answers.map(text => JSON.parse(text).id)).toEqual([1, 2])
  expect(JSON.parse(line)).toMatchObject({ id: 2, result: { tools: expect.any(Array) } })
  running.stdin.end()
  expect((await running.ended()).code).toBe(0)
})
