import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childEnvironment } from '../../hub/config/environment.ts'
import { readHubId } from '../../hub/config/token.ts'
import { createLog } from '../../hub/core/log.ts'
import { backUpStore, restoreStore } from '../../hub/store/store-backup.ts'
import * as audit from '../support/audit-rows.ts'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { LINES, openClient, type TestClient, textOf } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { INITIALIZE, mcpHeaders, rpc, send } from '../support/raw-http.ts'
import { AGENT, bearer, invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { post } from '../support/webhooks.ts'

const NOTEBOOK = fileURLToPath(new URL('../fixtures/notebook.ts', import.meta.url))
const CONFIG = {
  servers: {
    metrics: false,
    odd: odd().entry,
    notebook: { command: process.execPath, args: [NOTEBOOK], sandbox: 'off' },
  },
  tools: { approve: ['odd__swallow'], classes: { send: ['odd__swallow'] } },
  webhooks: { door: { secret: 'a-webhooks-own-secret-value' } },
}

let hub: TestHub
let client: TestClient
let guest: string
let member: string
beforeAll(async () => {
  hub = await startTestHub({ config: JSON.stringify(CONFIG), agents: { homelab: AGENT(true) } })
  await untilReady(hub, 'odd')
  await untilReady(hub, 'notebook')
  client = await openClient(LINES[0], hub)
  guest = await signIn(hub, await invite(hub, 'gus', 'guest'))
  member = await signIn(hub, await invite(hub, 'anna', 'member'))
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const untilRows = (count: number, question: audit.AuditQuestion) => audit.untilRows(client, count, question)
const untilRefused = ({ frames }: ChatClient, count: number) =>
  until(`${count} errors`, () => frames.all.filter(({ type }) => type === 'error').length >= count)
const mcp = (body: string, token: string, more: Record<string, string> = {}) =>
  send(`${hub.url}/mcp`, { method: 'POST', headers: mcpHeaders(token, more), body })

test('a stop and a fresh start have one row each, whichever way they are asked for', async () => {
  using chat = await openChat(hub)
  chat.send({ type: 'stop', conversation: 'homelab' })
  await chat.next('error', ({ code }) => code === 'conflict')
  await chat.say('homelab', '/stop', 'twice')
  await chat.say('homelab', '/stop', 'twice')
  await client.call('hub_chat', { message: '/stop', conversation: 'homelab' })
  await client.call('hub_stop', { conversation: 'homelab' })
  const stops = await untilRows(3, { kinds: ['stop'] })
  expect(stops.map(({ actor, door, outcome }) => [actor, door, outcome])).toEqual([
    ['owner', '/ws', 'nothing to stop'],
    ['owner', '/ws', 'nothing to stop'],
    ['owner', 'mcp', 'nothing to stop'],
  ])
  expect(stops[0]?.details).toMatchObject({ conversation: 'homelab', threads: ['thr_homelab'] })
  expect(await untilRows(2, { tool: 'hub_stop' })).toMatchObject([{ outcome: 'started' }, { outcome: 'ok' }])

  await chat.say('homelab', '/reset the moonstone is gone')
  await client.call('hub_reset', { agent: 'homelab' })
  const resets = await untilRows(1, { kinds: ['reset'] })
  expect(resets).toMatchObject([{ actor: 'owner', door: '/ws', details: { agents: ['homelab'] } }])
  expect(JSON.stringify(resets)).not.toContain('moonstone')
})

test('what a person may not do over chat has a row, and few of a flood', async () => {
  using chat = await openChat({ url: hub.url, token: guest })
  for (const frame of [
    { type: 'stop', conversation: 'homelab/gus' },
    { type: 'subscribe', conversation: 'homelab/anna', after: 0 },
    { type: 'message', conversation: 'homelab/anna', text: 'the moonstone' },
    { type: 'decide', approval: 'apr_none', decision: 'approve' },
  ] as const)
    chat.send(frame)
  await untilRefused(chat, 4)
  const rows = await untilRows(4, { actor: 'gus', kinds: ['stop', 'chat', 'approval'] })
  expect(rows.map(({ kind, role, door, outcome }) => [kind, role, door, outcome])).toEqual(
    ['stop', 'chat', 'chat', 'approval'].map(kind => [kind, 'guest', '/ws', 'refused']),
  )
  expect(rows[2]?.details).toEqual({ conversation: 'homelab/anna', why: 'forbidden' })
  expect(JSON.stringify(rows)).not.toContain('moonstone')

  for (let count = 0; count < 200; count++) chat.send({ type: 'stop', conversation: 'homelab/gus' })
  await untilRefused(chat, 204)
  expect((await audit.listRows(client, { actor: 'gus', kinds: ['stop'] })).length).toBeLessThan(60)
})

test('decisions that are refused have a row beside the one that counted', async () => {
  using chat = await openChat(hub)
  using other = await openChat({ url: hub.url, token: member })
  await chat.subscribe('homelab', 0)
  await chat.say('homelab', '/call odd__swallow {"any":1}')
  const { approval } = await chat.next('approval', one => one.approval.status === 'open')
  const decide = { type: 'decide', approval: approval.id, decision: 'deny' } as const
  other.send(decide)
  await other.next('error', ({ code }) => code === 'forbidden')
  chat.send(decide)
  await chat.next('approval', one => one.approval.status === 'denied')
  chat.send(decide)
  await chat.next('error', ({ code, message }) => code === 'conflict' && message.includes(approval.id))
  await audit.untilRecorded(client)
  const rows = (await audit.listRows(client, { kinds: ['approval'] })).filter(
    ({ details }) => details['approval'] === approval.id,
  )
  expect(rows.map(({ actor, outcome, details }) => [actor, outcome, details['why']])).toEqual([
    ['anna', 'refused', 'forbidden'],
    ['owner', 'denied', undefined],
    ['owner', 'refused', 'conflict'],
  ])
})

test('logins at servers: begun, refused, ended', async () => {
  const login = { method: 'POST', body: '{"server":"odd"}' }
  const headers = { 'Content-Type': 'application/json' }
  for (const token of [hub.token, member])
    await send(`${hub.url}/oauth/logins`, { ...login, headers: { ...headers, ...bearer(token) } })
  await send(`${hub.url}/oauth/servers/odd`, { method: 'DELETE', headers: bearer(hub.token) })
  await send(`${hub.url}/oauth/callback?state=none`)
  const rows = await untilRows(3, { kinds: ['login'] })
  expect(rows).toMatchObject([
    { actor: 'owner', outcome: 'refused', details: { server: 'odd', why: 'conflict' } },
    { actor: 'owner', outcome: 'ended', details: { server: 'odd' } },
    { actor: 'unknown', outcome: 'refused', details: { why: 'bad_request' } },
  ])
  expect(await audit.listRows(client, { actor: 'anna', kinds: ['sign_in'] })).toContainEqual(
    expect.objectContaining({ outcome: 'refused', role: 'member', door: 'Logins at /oauth' }),
  )
})

test('webhooks that let nobody in have a row, and few of a flood', async () => {
  const hook = await make(hub, 'hub_create_token', { name: 'radarr', role: 'hook' })
  await post(hub, 'none', {})
  await post(hub, 'door', {}, bearer('wrong'))
  await post(hub, 'door', {}, { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` })
  await post(hub, 'door', {}, bearer(hook))
  await post(hub, 'No%20Name', {}, bearer(hub.token))
  const rows = await untilRows(5, { kinds: ['webhook'] })
  expect(rows.map(({ actor, door, outcome }) => [actor, door, outcome])).toEqual([
    ['unknown', 'Webhook at /hooks/none', 'refused'],
    ['unknown', 'Webhook at /hooks/door', 'refused'],
    ['unknown', 'Webhook at /hooks/door', 'refused'],
    ['radarr', 'Webhook at /hooks/door', 'refused'],
    ['unknown', 'Webhooks at /hooks', 'refused'],
  ])
  expect(rows[0]?.details).toEqual({ address: '127.0.0.1' })
  await Promise.all(Array.from({ length: 200 }, (_, index) => post(hub, `none-${index}`, {})))
  const { length } = await audit.listRows(client, { kinds: ['webhook'], actor: 'unknown' })
  expect(length).toBeLessThan(60)
})

test('nobody fills the audit by signing in, or is called like others in it', async () => {
  const headers = bearer(await make(hub, 'hub_create_token', { name: 'lodger', role: 'guest' }))
  const again = Array.from({ length: 150 }, () => send(`${hub.url}/session`, { method: 'POST', headers }))
  const statuses = (await Promise.all(again)).map(({ status }) => status)
  expect(statuses.filter(status => status === 201)).toHaveLength(100)
  expect(statuses.filter(status => status === 429)).toHaveLength(50)
  for (const name of ['hub', 'unknown']) {
    const made = await client.call('hub_create_token', { name })
    expect([made.isError, textOf(made)]).toEqual([
      true,
      expect.stringContaining('must not be hub or unknown'),
    ])
  }
})

test('resources and prompts have a row like calls that look', async () => {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const begun = await mcp(INITIALIZE, hub.token)
  const session = { 'Mcp-Session-Id': String(begun.headers['mcp-session-id']) }
  await mcp(rpc('resources/read', { uri: 'note://today', _meta: meta }), hub.token, session)
  await mcp(rpc('prompts/get', { name: 'none' }, 3), hub.token, session)
  const [read] = await untilRows(1, { tool: 'resources/read' })
  expect(read).toMatchObject({ kind: 'read', actor: 'owner', role: 'owner', door: 'mcp', outcome: 'ok' })
  expect(read?.arguments).toBe('{"uri":"note://today"}')
  expect(await untilRows(1, { tool: 'prompts/get' })).toMatchObject([{ outcome: 'error' }])

  const tools = ['hub_status']
  const narrow = await make(hub, 'hub_create_token', { name: 'narrow', role: 'client', tools })
  const opened = await mcp(INITIALIZE, narrow)
  const other = { 'Mcp-Session-Id': String(opened.headers['mcp-session-id']) }
  await mcp(rpc('resources/read', { uri: 'note://today' }), narrow, other)
  await audit.untilRecorded(client)
  expect(await audit.listRows(client, { tool: 'resources/read', actor: 'narrow' })).toMatchObject([
    { outcome: 'refused' },
  ])
})

test('a call of an older client that pretends to go on with another one has its row before it', async () => {
  const begun = await mcp(INITIALIZE, hub.token)
  const session = { 'Mcp-Session-Id': String(begun.headers['mcp-session-id']) }
  const forged = { name: 'odd__swallow', arguments: { any: 'forged' }, requestState: 'superbloom:none' }
  await mcp(rpc('tools/call', forged), hub.token, session)
  const rows = await untilRows(2, { tool: 'odd__swallow', kinds: ['call'], actor: 'owner' })
  expect(rows).toMatchObject([{ outcome: 'started', arguments: '{"any":"forged"}' }, { outcome: 'ok' }])
})

test('a store that was put back says so', async () => {
  await client[Symbol.asyncDispose]()
  await hub.stop()
  const id = () => readHubId(hub.dataFolder)
  const log = createLog({ level: 'error', now: Date.now, write: line => expect.fail(line) })
  const store = { folder: hub.dataFolder, url: hub.stored.url, environment: childEnvironment(), hub: id, log }
  const { file } = await backUpStore(store, Date.now())
  await restoreStore(store, file, Date.now())
  await hub.start()
  client = await openClient(LINES[0], hub)
  const rows = await audit.listRows(client, { kinds: ['start'] })
  expect(rows.map(({ outcome, details }) => [outcome, details['file']])).toEqual([
    ['ok', undefined],
    ['restored', file],
    ['ok', undefined],
  ])
  const started = hub.logs.all.findLast(({ event }) => event === 'hub_started')
  const all = await audit.listRows(client, {})
  expect(all.map(({ seq, hash }) => ({ seq, hash }))).toContainEqual(started?.['audit'])
})

test("another token of the owner's has a row, whoever made it", async () => {
  await client.call('hub_revoke_token', { all: true }).catch(() => undefined)
  client = await openClient(LINES[0], hub)
  const replaced = async (count: number) => {
    const rows = await untilRows(count, { kinds: ['token'] })
    return rows.filter(({ outcome }) => outcome === 'replaced').map(({ actor, details }) => [actor, details])
  }
  await audit.untilRecorded(client)
  const all = (await audit.listRows(client, { kinds: ['token'] })).length
  expect(await replaced(all)).toEqual([['owner', { id: 'owner', name: 'owner' }]])
  await client[Symbol.asyncDispose]()
  await hub.stop()
  hub.writeData('token', 'a-token-that-somebody-wrote\n')
  await hub.start()
  client = await openClient(LINES[0], hub)
  expect((await replaced(all + 1)).map(([actor]) => actor)).toEqual(['owner', 'hub'])
  await client[Symbol.asyncDispose]()
  await hub.stop()
  await hub.start()
  client = await openClient(LINES[0], hub)
  expect(await replaced(all + 1)).toHaveLength(2)
})
