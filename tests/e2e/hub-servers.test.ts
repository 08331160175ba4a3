import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClient, textOf } from '../support/clients.ts'
import { odd } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const { command, args } = odd().entry
const CONFIG = `# The house
servers:
  metrics: false
  # Said by hand.
  fixed: { command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} } # stays
tools:
  approve:
    - "never_*" # as before
`
const PASTED = JSON.stringify({
  mcpServers: { lamp: { command, args, env: { LAMP_TOKEN: 'hunter2-hunter2' } } },
})

let hub: TestHub
let owner: Awaited<ReturnType<typeof openClient>>
beforeAll(async () => {
  hub = await startTestHub({ config: CONFIG })
  owner = await openClient('sdk 2, 2026-07-28', hub)
})
afterAll(async () => {
  await owner[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const call = async (tool: string, given: object): Promise<Record<string, unknown>> => {
  const result = await owner.call(tool, { ...given })
  if (result.isError) throw new Error(textOf(result))
  return result.structuredContent as Record<string, unknown>
}
const toolsOf = async (server: string) => {
  const { tools } = await call('hub_read_server', { server })
  return new Map((tools as { name: string; mode: string }[]).map(one => [one.name, one]))
}
const listed = async () => (await owner.listTools()).map(tool => tool.name)
const config = () => readFileSync(hub.configFile, 'utf8')

test('a pasted server is there as soon as the call ends, and nobody reads its secret again', async () => {
  const { servers } = await call('hub_add_server', { paste: PASTED })
  const file = join(hub.dataFolder, 'servers/lamp/mcp.json')
  expect(servers).toEqual([{ name: 'lamp', state: 'ready', tools: 3, file, notes: [] }])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await listed()).toContain('lamp__pid')
  const details = await call('hub_read_server', { server: 'lamp' })
  expect(details).toMatchObject({ file, entry: { command, env: { LAMP_TOKEN: '***' } }, isBuiltIn: false })
  const audit = await call('hub_list_audit', { kinds: ['config', 'call'], limit: 50 })
  expect(JSON.stringify(audit)).toContain('"added"')
  expect(JSON.stringify([details, audit, hub.logs.all])).not.toContain('hunter2')
})

test('a server is switched off and on, restarted, its log read, and removed', async () => {
  await call('hub_change_server', { server: 'lamp', enabled: false })
  expect(await listed()).not.toContain('lamp__pid')
  await call('hub_change_server', { server: 'lamp', enabled: true })
  expect(await call('hub_restart_server', { server: 'lamp' })).toMatchObject({ state: 'ready', tools: 3 })
  const { lines } = await call('hub_read_server_log', { server: 'lamp' })
  const connected = { at: expect.any(Number), by: 'hub', text: 'connected, 3 tools' }
  expect(lines).toEqual([connected, connected, connected])
  await call('hub_change_server', { server: 'lamp', tool: 'lamp__pid', mode: 'off' })
  const removed = await call('hub_remove_server', { server: 'lamp' })
  expect(existsSync(String(removed['kept']))).toBe(true)
  expect((await listed()).filter(name => name.startsWith('lamp__'))).toEqual([])
  expect(await call('hub_restore_server', { server: 'lamp' })).toMatchObject({ state: 'ready' })
  expect(await toolsOf('lamp').then(tools => tools.get('lamp__pid'))).toMatchObject({ mode: 'off' })
  await expect(call('hub_restore_server', { server: 'lamp' })).rejects.toThrow(/was removed since/)

  await call('hub_remove_server', { server: 'fixed' })
  expect(config()).not.toContain('fixed')
  expect(await call('hub_restore_server', { server: 'fixed' })).toMatchObject({ state: 'ready' })
  expect(config()).toBe(CONFIG)
})

test('tools are asked for, denied and left out, in the files that say so, with their comments', async () => {
  const tool = 'fixed__pid'
  await call('hub_change_server', { server: 'fixed', tool, mode: 'ask' })
  expect(config()).toBe(CONFIG.replace('# as before\n', '# as before\n    - "fixed__pid"\n'))
  expect(readFileSync(`${hub.configFile}.bak`, 'utf8')).toBe(CONFIG)
  const explain = async () => textOf(await owner.call('hub_explain_policy', { tool }))
  expect(await explain()).toContain('asks a person')
  await call('hub_change_server', { server: 'fixed', tool, mode: 'run' })
  expect(config()).toContain('allow: [{ "tools": ["fixed__pid"], "power": "person" }]')
  expect((await toolsOf('fixed')).get(tool)).toMatchObject({ mode: 'run' })
  expect(await explain()).toContain('runs: tools.allow of the config lists it')
  await call('hub_change_server', { server: 'fixed', tool, mode: 'routine' })
  const routine = { tool, power: 'routine' }
  expect(textOf(await owner.call('hub_explain_policy', routine))).toContain('runs: tools.allow')
  await call('hub_change_server', { server: 'fixed', tool, mode: 'deny' })
  expect(await explain()).toContain('refused')
  expect((await toolsOf('fixed')).get(tool)).toMatchObject({ mode: 'deny' })
  const starts = async () => (await call('hub_read_server_log', { server: 'fixed' }))['lines']
  const before = await starts()
  await call('hub_change_server', { server: 'fixed', tool: 'fixed__pid', mode: 'off' })
  expect(config()).toContain('"tools": { "never": ["pid"] }, command')
  expect(await listed()).not.toContain(tool)
  await call('hub_change_server', { server: 'fixed', tool, mode: 'on' })
  expect(config().replace(/^ {2}deny.*\n/m, '')).toBe(CONFIG)
  expect(await starts(), 'the server was not restarted').toEqual(before)
})

test('a rule that names more than the tool is not changed, but said', async () => {
  hub.writeConfig(CONFIG.replace('never_*', 'fixed__*'))
  await expect.poll(async () => (await toolsOf('fixed')).get('fixed__pid')).toMatchObject({ mode: 'ask' })
  await expect(
    call('hub_change_server', { server: 'fixed', tool: 'fixed__pid', mode: 'on' }),
  ).rejects.toThrow(/superbloom\.yaml: tools\.approve has fixed__\*, which fixed__pid fits/)
  hub.writeConfig(CONFIG)
})

test('a server that does not start is kept with its reason', async () => {
  const program = 'console.error("no lamp here"); process.exit(3)'
  const { servers } = await call('hub_add_server', { paste: `${command} -e '${program}'`, name: 'broken' })
  expect(servers).toMatchObject([
    { name: 'broken', state: 'down', error: expect.stringContaining('no lamp here') },
  ])
  const { lines } = await call('hub_read_server_log', { server: 'broken' })
  expect(lines).toContainEqual({ at: expect.any(Number), by: 'server', text: 'no lamp here' })
  await call('hub_remove_server', { server: 'broken' })
})

test('what cannot be written is said with the file, the reason and the lines', async () => {
  // A folder in place of the copy stops even root.
  rmSync(`${hub.configFile}.bak`, { force: true })
  mkdirSync(`${hub.configFile}.bak`)
  await expect(call('hub_change_server', { server: 'fixed', enabled: false })).rejects.toThrow(
    /superbloom\.yaml\.bak cannot be written.*write\nservers:\n {2}fixed:\n {4}disabled: true/,
  )
  expect(config()).toBe(CONFIG)
  rmSync(`${hub.configFile}.bak`, { recursive: true })
})

test('a wrong file is not changed, and a wrong request says what is wrong', async () => {
  writeFileSync(hub.configFile, `${CONFIG}colour: red\n`)
  await expect(call('hub_change_server', { server: 'fixed', enabled: false })).rejects.toThrow(/colour/)
  hub.writeConfig(CONFIG)
  await expect(call('hub_restart_server', { server: 'nobody' })).rejects.toThrow(
    /no server nobody; there is .*fixed/,
  )
  await expect(call('hub_remove_server', { server: 'metrics' })).rejects.toThrow(/cannot be removed/)
  await expect(call('hub_add_server', { paste: '{' })).rejects.toThrow(/no JSON object/)
  await expect(call('hub_change_server', { server: 'fixed' })).rejects.toThrow(
    /give enabled, or tool and mode/,
  )
})

test('only the owner sees and calls these tools', async () => {
  const names = (await listed()).filter(name => /^hub_(?:add|change|remove|restart|read)_server/.test(name))
  expect(names).toHaveLength(6)
  const tokens = [
    await signIn(hub, await invite(hub, 'anna', 'member')),
    await signIn(hub, await invite(hub, 'gus', 'guest')),
    await make(hub, 'hub_create_token', { name: 'desk', role: 'client' }),
  ]
  for (const token of tokens) {
    await using client = await openClient('sdk 2, 2026-07-28', { url: hub.url, token })
    expect((await client.listTools()).map(tool => tool.name)).not.toContain(names[0])
    for (const name of names)
      expect(textOf(await client.call(name, { server: 'fixed', paste: 'x' }))).toContain(`${name} is not for`)
  }
})
