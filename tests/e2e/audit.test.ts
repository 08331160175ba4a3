import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditRow } from '../../schemas/audit.ts'
import * as audit from '../support/audit-rows.ts'
import { openChat } from '../support/chat-client.ts'
import { runCli } from '../support/cli.ts'
import { LINES, openClient, type TestClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { changeRows } from '../support/read-rows.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { bearer, post } from '../support/webhooks.ts'

const SECRET = 'a-webhooks-own-secret-value'
const CONFIG = {
  servers: { metrics: false, odd: odd().entry },
  tools: { approve: ['odd__swallow'], classes: { send: ['odd__swallow'] } },
}
const config = JSON.stringify({ ...CONFIG, webhooks: { door: { secret: SECRET } } })

let hub: TestHub
let client: TestClient
beforeAll(async () => {
  hub = await startTestHub({ config })
  await untilReady(hub, 'odd')
  client = await openClient(LINES[0], hub)
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const cli = (...args: string[]) => runCli(['audit', ...args], { cwd: hub.folder, variables: hub.variables })

const rowsOf = (question: audit.AuditQuestion) => audit.listRows(client, question)
const untilRows = (count: number, question: audit.AuditQuestion) => audit.untilRows(client, count, question)

test("a client's call that sends has a row before it and one after it, without secrets", async () => {
  const args = { any: `${SECRET} and ${hub.token}`, password: 'swordfish' }
  await client.call('odd__swallow', args)
  const rows = await untilRows(2, { tool: 'odd__swallow', actor: 'owner' })
  expect(rows).toMatchObject([
    {
      kind: 'call',
      role: 'owner',
      door: 'mcp',
      outcome: 'started',
      arguments: expect.stringContaining('***'),
    },
    { kind: 'call', outcome: expect.stringMatching(/^(ok|error)$/), details: { ms: expect.any(Number) } },
  ])
  expect(rows[1]?.call).toBe(rows[0]?.call)
  for (const secret of [SECRET, hub.token, 'swordfish']) expect(JSON.stringify(rows)).not.toContain(secret)
})

test('a call that sends and destroys nothing has one row, and what is said to an agent is in none', async () => {
  await client.call('hub_list_agents', {})
  expect(await untilRows(1, { tool: 'hub_list_agents' })).toMatchObject([{ kind: 'read', outcome: 'ok' }])
  await client.call('hub_chat', { message: 'the moonstone is under the stairs' })
  const rows = await untilRows(1, { tool: 'hub_chat' })
  expect(rows[0]?.arguments).toBe('{"message":"(33 characters)"}')
})

test("an agent's call that a person allows has one row, and the decision has one", async () => {
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  await chat.say('homelab', '/call odd__swallow {"any":"the-moonstone"}')
  const { approval } = await chat.next('approval', one => one.approval.status === 'open')
  const yes = ['approvals', 'approve', approval.id, '--always', '1d']
  await runCli(yes, { cwd: hub.folder, variables: hub.variables })
  const [call] = await untilRows(1, { actor: 'agent:homelab' })
  expect(call).toMatchObject({
    kind: 'call',
    power: 'person',
    tool: 'odd__swallow',
    arguments: '{"any":"the-moonstone"}',
    details: { thread: 'thr_homelab', argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  const [decision] = await untilRows(1, { kinds: ['approval'] })
  expect(decision).toMatchObject({ actor: 'owner', outcome: 'approved', call: call?.call })
  expect(decision?.details['argumentsHash']).toBe(call?.details['argumentsHash'])
  const [made] = await untilRows(1, { kinds: ['allowance'] })
  await client.call('hub_revoke_allowance', { id: made?.details['allowance'] })
  expect(await untilRows(2, { kinds: ['allowance'] })).toMatchObject([
    { outcome: 'made' },
    { outcome: 'revoked' },
  ])

  // Other arguments in the ledger are not shown as those of the call.
  const change = (args: string) =>
    changeRows(hub.stored, `update tool_calls set arguments = '${args}' where id = '${call?.call}'`)
  change('{"any":"a-pebble"}')
  expect((await rowsOf({ actor: 'agent:homelab' }))[0]?.arguments).toBe(
    'NOT THOSE OF THE CALL: {"any":"a-pebble"}',
  )
  const broken = { seq: decision?.seq, why: expect.stringContaining('tool_calls') }
  expect((await client.call('hub_verify_audit', {})).structuredContent).toMatchObject({ broken })
  change('{ "any": "the-moonstone" }')
  expect((await client.call('hub_verify_audit', {})).structuredContent).not.toHaveProperty('broken')

  // Its arguments go with the conversation; the chain holds.
  await until('it sleeps', async () => {
    const deleted = await client.call('hub_delete_conversation', { conversation: 'homelab' })
    return deleted.isError !== true
  })
  expect((await rowsOf({ actor: 'agent:homelab' }))[0]).not.toHaveProperty('arguments')
})

test('deliveries, events, files, tokens and sign-ins have a row each', async () => {
  await post(hub, 'door', { bell: 'rang' }, bearer(SECRET))
  expect(await untilRows(1, { kinds: ['webhook'] })).toMatchObject([
    { actor: 'hook:door', outcome: 'accepted' },
  ])
  await client.call('hub_publish_event', { type: 'door_open', payload: {} })
  expect(await untilRows(1, { kinds: ['event'] })).toMatchObject([
    { actor: 'owner', details: { type: 'door_open' } },
  ])

  hub.writeAgent('zoe', '---\ndescription: x\n---\n\nYou are zoe.\n')
  hub.writeConfig(`${config} `)
  const files = await untilRows(4, { kinds: ['config'] })
  expect(files.map(({ outcome }) => outcome).sort()).toEqual(['added', 'added', 'added', 'changed'])

  await client.call('hub_create_token', { name: 'grafana', role: 'metrics' })
  await client.call('hub_revoke_token', { which: 'grafana' })
  await fetch(`${hub.url}/session`, { method: 'POST', headers: bearer(hub.token) })
  await fetch(`${hub.url}/session`, { method: 'POST', headers: bearer('wrong') })
  expect((await untilRows(2, { kinds: ['token'] })).map(({ outcome }) => outcome)).toEqual([
    'created',
    'revoked',
  ])
  const signIns = await untilRows(2, { kinds: ['sign_in'] })
  expect(signIns.map(({ actor, outcome }) => `${actor} ${outcome}`)).toEqual([
    'owner created',
    'unknown refused',
  ])
  expect(await untilRows(1, { kinds: ['start'] })).toMatchObject([{ actor: 'hub' }])
})

test('the terminal lists, exports and verifies', async () => {
  const listed = await cli('--since', '1d', '--tool', 'odd__swallow', '--actor', 'owner')
  expect(listed.stdout).toMatch(/owner \(owner, over mcp\): call odd__swallow \{.*\}: started/)
  const exported = await cli('--json')
  const rows = exported.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as AuditRow)
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
  expect(await cli('--verify')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/holds from row 1 to \d+/),
  })
})

test('a row that was changed in the store is found', async () => {
  await hub.stop()
  const whole = await cli('--verify')
  expect(whole).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/holds from row 1 to .* No hub was found/s),
  })
  changeRows(hub.stored, "update audit set actor = 'nobody' where seq = 3")
  const alone = await cli('--verify')
  await hub.start()
  const found = await cli('--verify')
  for (const { code, stderr } of [alone, found]) {
    expect(code).toBe(1)
    expect(stderr).toMatch(/from row 1 to 2, .*Row 3: it is not as/)
  }
  expect([alone.stderr, found.stderr]).toEqual([
    expect.stringContaining('No hub was found'),
    expect.stringContaining(`The hub at ${hub.url} checked it`),
  ])
})
