import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { StdioBridge } from '../../hub/mcp/stdio-bridge.ts'
import { send } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { createRecord, within } from '../support/until.ts'

const MODES = ['2026-07-28', 'legacy'] as const

/** Connects a client in memory to a real hub, by the bridge of `superbloom mcp` in this process. */
async function connect(hub: TestHub, mode: (typeof MODES)[number]) {
  const [ours, bridged] = InMemoryTransport.createLinkedPair()
  const said = createRecord<string>()
  const address = { token: '' }
  const bridge = new StdioBridge({
    clock: systemClock,
    client: bridged,
    findHub: () => ({ url: hub.url, token: address.token || hub.token, path: '/mcp' }),
    tokenFile: 'tokens/in-memory',
    log: line => said.add(line),
  })
  const ended = bridge.run()
  const client = new Client(
    { name: 'in-memory', version: '1' },
    { versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: mode } } },
  )
  const changes = createRecord<'changed'>()
  client.setNotificationHandler('notifications/tools/list_changed', () => changes.add('changed'))
  await client.connect(ours)
  return { client, said, changes, address, ended }
}
type Connected = Awaited<ReturnType<typeof connect>>

const ask = async ({ client }: Connected, timeout = 20_000) => {
  const result = await client.callTool({ name: 'hub_list_agents', arguments: {} }, { timeout })
  return result.structuredContent
}
const AGENTS = { agents: [{ name: 'homelab' }] }

describe.each(MODES)('the bridge of a client of %s', mode => {
  let hub: TestHub
  let one: Connected

  beforeEach(async () => {
    hub = await startTestHub()
    one = await connect(hub, mode)
    expect(await ask(one)).toMatchObject(AGENTS)
  })
  afterEach(async () => {
    await one.client.close()
    await within('the bridge ends', one.ended)
    await hub[Symbol.asyncDispose]()
  })

  test('messages that find the hub restarted all get through, by one new session', async () => {
    await hub.stop()
    await hub.start()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(one)))
    for (const answer of answers) expect(answer).toMatchObject(AGENTS)
    if (mode === 'legacy') await one.changes.find('the client is told to look again', () => true)
    expect(one.changes.all.length).toBeLessThan(2)
    for (let round = 0; round < 3; round++) {
      await hub.stop()
      await hub.start()
      expect(await ask(one)).toMatchObject(AGENTS)
    }
  })

  test('while no hub is there each request says so, and the next one after its start works', async () => {
    await hub.stop()
    for (let round = 0; round < 3; round++) {
      await expect(ask(one)).rejects.toMatchObject({
        code: -32_603,
        message: expect.stringContaining('did not answer'),
      })
    }
    await hub.start()
    expect(await ask(one)).toMatchObject(AGENTS)
  })

  test('a token that changed is read again', async () => {
    one.address.token = 'wrong'
    await hub.stop()
    await hub.start()
    await expect(ask(one)).rejects.toThrow(/did not answer: the hub refuses the token in tokens.in-memory/)
    one.address.token = hub.token
    expect(await ask(one)).toMatchObject(AGENTS)
  })

  test('a request is not sent twice where the hub may have taken it', async () => {
    const call = one.client.callTool({
      name: 'hub_chat',
      arguments: { message: '/help', conversation: 'homelab/once', waitSeconds: 0 },
    })
    await Promise.allSettled([call, hub.stop()])
    await hub.start()
    const read = await one.client.callTool({
      name: 'hub_read_messages',
      arguments: { conversation: 'homelab/once' },
    })
    const { messages } = read.structuredContent as { messages: { kind: string }[] }
    expect(messages.filter(({ kind }) => kind === 'user').length).toBeLessThan(2)
  })
})

test('a session that the hub ended is opened anew', async () => {
  await using hub = await startTestHub()
  const ids = createRecord<string>()
  const { fetch } = globalThis
  globalThis.fetch = async (...args) => {
    const response = await fetch(...args)
    const id = response.headers.get('mcp-session-id')
    if (id) ids.add(id)
    return response
  }
  try {
    const one = await connect(hub, 'legacy')
    const headers = { Authorization: `Bearer ${hub.token}`, 'Mcp-Session-Id': String(ids.all[0]) }
    expect((await send(`${hub.url}/mcp`, { method: 'DELETE', headers })).status).toBe(200)
    expect(await ask(one)).toMatchObject(AGENTS)
    expect(new Set(ids.all).size).toBe(2)
    await one.client.close()
    await within('the bridge ends', one.ended)
    // The bridge closed its last session, so the hub no longer knows it.
    const last = { ...headers, 'Mcp-Session-Id': String(ids.all.at(-1)) }
    expect((await send(`${hub.url}/mcp`, { method: 'DELETE', headers: last })).status).toBe(404)
  } finally {
    globalThis.fetch = fetch
  }
})
