import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentEdit } from '../../schemas/agent-edit.ts'
import type { AuditRow } from '../../schemas/audit.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { type Configured, recorder, untilReady } from '../support/downstream.ts'
import { invite, make, signIn } from '../support/roles.ts'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const AUNT = `---
description: Bakes
tools: ["rec__*", "none_*"]
schedules: [{ cron: "0 8 * * *", timezone: Europe/Berlin, reason: Breakfast }]
---
You are the aunt.
`
const model = createScriptedModel([])
let hub: TestHub
let rec: Configured
let owner: TestClient

beforeAll(async () => {
  rec = recorder()
  const config = JSON.stringify({ servers: { metrics: false, rec: rec.entry } })
  hub = await startTestHub({ config, overrides: { model } })
  await untilReady(hub, 'rec')
  owner = await openClient('sdk 2, 2026-07-28', hub)
})
afterAll(async () => {
  await owner[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  rec[Symbol.dispose]()
})

async function ask<Result>(name: string, args: Record<string, unknown> = {}): Promise<Result> {
  const result = await owner.call(name, args)
  expect(result.isError ? textOf(result) : 'done').toBe('done')
  return result.structuredContent as Result
}
const refusal = async (name: string, args: Record<string, unknown>) => {
  const result = await owner.call(name, args)
  return result.isError ? textOf(result) : 'done'
}
const read = (agent: string) => ask<AgentEdit>('hub_read_agent', { agent })
const fileOf = (agent: string) => join(hub.agentsFolder, `${agent}.md`)

test('an agent is made, changed, retired and brought back, each in force at once and with its author', async () => {
  expect(await refusal('hub_read_agent', { agent: 'aunt' })).toMatch(/no agent aunt/)
  const { sha256 } = await ask<AgentEdit>('hub_write_agent', { agent: 'aunt', text: AUNT })
  const made = await read('aunt')
  expect(made).toMatchObject({ text: AUNT, sha256, problems: [], facts: [] })
  const { meaning } = made
  expect(meaning?.tools.map(({ tool }) => tool)).toEqual(expect.arrayContaining(['rec__count']))
  expect(meaning?.unmatched).toEqual(['none_*'])
  expect(meaning?.schedules).toMatchObject([{ timezone: 'Europe/Berlin', nextRun: expect.any(Number) }])
  expect(meaning?.limits.steps).toBe(30)
  const { schedules } = await ask<{ schedules: object[] }>('hub_list_schedules', { agent: 'aunt' })
  expect(schedules).toMatchObject([{ reason: 'Breakfast', status: 'active' }])

  const longer = `${AUNT}And kind.\n`
  await ask('hub_write_agent', { agent: 'aunt', text: longer, sha256 })
  const changed = await read('aunt')
  expect(changed).toMatchObject({ text: longer, former: AUNT })

  await ask('hub_remove_agent', { agent: 'aunt', sha256: changed.sha256 })
  expect(existsSync(fileOf('aunt'))).toBe(false)
  expect(await read('aunt')).toMatchObject({ former: longer, problems: [] })
  const { agents } = await ask<{ agents: { name: string; status: string }[] }>('hub_list_agents')
  expect(agents).toContainEqual(expect.objectContaining({ name: 'aunt', status: 'retired' }))

  await ask('hub_write_agent', { agent: 'aunt', text: longer })
  expect(readFileSync(fileOf('aunt'), 'utf8')).toBe(longer)
  const { rows } = await ask<{ rows: AuditRow[] }>('hub_list_audit', { kinds: ['config'], actor: 'owner' })
  expect(rows.map(({ outcome }) => outcome)).toEqual(['added', 'removed', 'changed', 'added'])
  expect(rows[0]).toMatchObject({ role: 'owner', door: '/mcp', details: { file: fileOf('aunt') } })
})

test('a wrong text is refused whole, with every line, and nothing is written', async () => {
  const wrong = '---\ntools: 3\nlimits: { steps: 0 }\nschedules: [{ cron: never, reason: x }]\n---\nHi.\n'
  const { problems } = await ask<AgentEdit>('hub_check_agent', { agent: 'bad', text: wrong })
  expect(problems.map(({ line }) => line)).toEqual([2, 3])
  expect(await refusal('hub_write_agent', { agent: 'bad', text: wrong })).toMatch(/bad\.md:2: tools/)
  expect(existsSync(fileOf('bad'))).toBe(false)
  for (const name of ['../x', 'A', 'a/b', ''])
    expect(await refusal('hub_write_agent', { agent: name, text: 'Hi.' })).toMatch(/agent/)
})

test('a file that changed on the disk is not overwritten', async () => {
  const { sha256 } = await ask<AgentEdit>('hub_write_agent', { agent: 'uncle', text: 'You are the uncle.\n' })
  writeFileSync(fileOf('uncle'), 'You are the other uncle.\n')
  const args = { agent: 'uncle', text: 'You are mine.\n', sha256 }
  expect(await refusal('hub_write_agent', args)).toMatch(/changed meanwhile/)
  expect(await refusal('hub_remove_agent', { agent: 'uncle', sha256 })).toMatch(/changed meanwhile/)
  expect(await refusal('hub_write_agent', { agent: 'uncle', text: 'New.' })).toMatch(/exists already/)
  expect(readFileSync(fileOf('uncle'), 'utf8')).toBe('You are the other uncle.\n')
  rmSync(fileOf('uncle'))
  expect(await refusal('hub_write_agent', args)).toMatch(/removed meanwhile/)
})

test('what an agent remembers is read, changed, accepted and forgotten', async () => {
  await ask('hub_store_fact', { agent: 'homelab', key: 'tea', value: 'green' })
  await ask('hub_store_fact', { agent: 'homelab', key: 'wifi', value: 'down', scope: 'thread' })
  expect((await read('homelab')).facts).toEqual([
    { scope: 'agent', key: 'tea', value: 'green' },
    { scope: 'thread', key: 'wifi', value: 'down' },
  ])
  model.script(call([['get_context', { key: 'tea' }]]), say('green'))
  await ask('hub_chat', { message: 'which tea?' })
  expect(model.requests.all[0]?.messages[0]?.text).toContain('tea')
  await ask('hub_remove_fact', { agent: 'homelab', key: 'tea' })
  expect((await read('homelab')).facts.map(({ key }) => key)).toEqual(['wifi'])
  expect(await refusal('hub_store_fact', { agent: 'nobody', key: 'x', value: 'y' })).toMatch(
    /no agent nobody/,
  )
  expect(await refusal('hub_remove_fact', { agent: 'nobody', key: 'x' })).toMatch(/no agent nobody/)
  expect(await refusal('hub_store_fact', { agent: 'homelab', key: 'x', value: 'y'.repeat(5_000) })).toMatch(
    /at most 4000/,
  )
})

test('nobody but the owner edits agents, whatever their token', async () => {
  const tokens = {
    member: await signIn(hub, await invite(hub, 'anna', 'member')),
    guest: await signIn(hub, await invite(hub, 'gus', 'guest')),
    client: await make(hub, 'hub_create_token', { name: 'desk', role: 'client' }),
  }
  const tools: [string, Record<string, unknown>][] = [
    ['hub_read_agent', { agent: 'homelab' }],
    ['hub_check_agent', { agent: 'homelab', text: 'x' }],
    ['hub_write_agent', { agent: 'mine', text: 'x' }],
    ['hub_remove_agent', { agent: 'homelab', sha256: 'x' }],
    ['hub_store_fact', { agent: 'homelab', key: 'a', value: 'b' }],
    ['hub_remove_fact', { agent: 'homelab', key: 'a' }],
  ]
  for (const [role, token] of Object.entries(tokens)) {
    await using client = await openClient('sdk 2, 2026-07-28', { url: hub.url, token })
    const listed = (await client.listTools()).map(({ name }) => name)
    for (const [name, args] of tools) {
      expect(listed, role).not.toContain(name)
      expect(textOf(await client.call(name, args)), role).toMatch(new RegExp(`role ${role}`))
    }
  }
  model.script(call([['hub_read_agent', { agent: 'homelab' }]]), say('I may not'))
  await ask('hub_chat', { message: 'read your file' })
  expect(JSON.stringify(model.requests.all.at(-1)?.messages)).toMatch(/no tool|unknown tool/i)
})
