import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { serveTrialProvider } from '../support/trial-provider.ts'

const CONFIG = '# what we wrote by hand\nservers: { metrics: false } # no figures\n'
let hub: TestHub
let owner: TestClient
let provider: Awaited<ReturnType<typeof serveTrialProvider>>
let takesTools = true
beforeAll(async () => {
  provider = await serveTrialProvider(() => takesTools)
  hub = await startTestHub({ config: CONFIG, variables: { MISTRAL_API_KEY: 'sk-never-shown' } })
  owner = await openClient('sdk 2, 2026-07-28', hub)
})
afterAll(async () => {
  await owner[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const choice = (more = {}) => ({ baseUrl: provider.url, model: 'qwen3', ...more })

test("a model is tried with the agent's request, kept in the config beside what stands there, and answers", async () => {
  const { structuredContent: trial } = await owner.call('hub_try_model', choice())
  expect(trial).toMatchObject({ works: true })
  expect(JSON.stringify(trial)).toContain("reads tools' results")
  expect(JSON.stringify(trial)).toContain('reads only the names of pictures')
  expect(readFileSync(hub.configFile, 'utf8')).toBe(CONFIG)

  const kept = await owner.call('hub_set_model', choice({ apiKey: 'sk-the-key-of-qwen' }))
  expect(kept.structuredContent).toEqual({ file: hub.configFile })
  const sees = await owner.call('hub_try_model', choice({ vision: true }))
  expect(textOf(sees)).toContain('sees pictures')
  const text = readFileSync(hub.configFile, 'utf8')
  expect(text).toContain('# what we wrote by hand')
  expect(text).toContain('servers: { metrics: false } # no figures')
  const { structuredContent: reply } = await owner.call('hub_chat', { message: 'hi' })
  expect(reply).toMatchObject({ status: 'replied', reply: 'Hello from qwen3.' })

  const rows = await owner.call('hub_list_audit', {})
  expect(JSON.stringify(rows)).not.toContain('sk-the-key-of-qwen')
  const { structuredContent: config } = await owner.call('hub_list_audit', {
    kinds: ['config'],
    actor: 'owner',
  })
  expect(config).toMatchObject({ rows: [{ outcome: 'changed', details: { file: hub.configFile } }] })
})

test('a model that cannot be used says why, and a wrong choice changes nothing', async () => {
  takesTools = false
  const { structuredContent: trial } = await owner.call('hub_try_model', choice())
  takesTools = true
  expect(trial).toMatchObject({ works: false })
  expect(JSON.stringify(trial)).toContain('tools are not enabled')
  const before = readFileSync(hub.configFile, 'utf8')
  const refused = await owner.call('hub_set_model', { model: 'no address' })
  expect([refused.isError, textOf(refused)]).toEqual([
    true,
    expect.stringContaining('where the model is asked'),
  ])
  expect(readFileSync(hub.configFile, 'utf8')).toBe(before)
})

test('what answers on this machine is listed, with the names of keys and never a key', async () => {
  const { structuredContent } = await owner.call('hub_find_models')
  expect(structuredContent).toMatchObject({ keys: ['MISTRAL_API_KEY'], servers: expect.any(Array) })
  expect(JSON.stringify(structuredContent)).not.toContain('never-shown')
  const asked = await owner.call('hub_find_models', { baseUrl: `${provider.url}/` })
  expect(asked.structuredContent).toMatchObject({ servers: [{ baseUrl: provider.url, models: ['qwen3'] }] })
})

test('what to paste into a client is what superbloom mcp --config prints', async () => {
  for (const client of ['claude-desktop', 'claude-code', 'cursor', 'vscode']) {
    const { structuredContent } = await owner.call('hub_describe_client', { client })
    const { stdout } = await runCli(['mcp', '--config', client], {
      variables: hub.variables,
      cwd: hub.folder,
    })
    expect(structuredContent).toEqual({ text: stdout.trimEnd() })
  }
})

test('nobody but the owner sets up the hub or reads its config', async () => {
  const tokens = {
    member: await signIn(hub, await invite(hub, 'anna', 'member')),
    guest: await signIn(hub, await invite(hub, 'gus', 'guest')),
    client: await make(hub, 'hub_create_token', { name: 'desk', role: 'client' }),
  }
  for (const [role, token] of Object.entries(tokens)) {
    await using client = await openClient('sdk 2, 2026-07-28', { url: hub.url, token })
    for (const [name, args] of Object.entries({
      hub_find_models: {},
      hub_try_model: choice(),
      hub_set_model: choice(),
      hub_describe_client: { client: 'cursor' },
      hub_read_config: {},
    }))
      expect(textOf(await client.call(name, args)), `${role} ${name}`).toMatch(new RegExp(`role ${role}`))
  }
})
