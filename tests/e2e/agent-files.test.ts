import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient, type TestClient } from '../support/clients.ts'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const AUNT = '---\nschedules: [{ cron: "0 8 * * *", reason: report }]\n---\nYou are the aunt.\n'

interface Schedule {
  reason: string
  status: string
  timezone: string
  nextRun: number
}

const schedules = async (client: TestClient) => {
  const { structuredContent } = await client.call('hub_list_schedules')
  return (structuredContent as { schedules: Schedule[] }).schedules
}
const untilSchedules = (client: TestClient, what: string, fits: (all: Schedule[]) => boolean) =>
  until(what, async () => fits(await schedules(client)))

test('an agent comes, retires and is back with its file, and its schedules with it', async () => {
  const model = createScriptedModel([say('hello, dear'), say('back again')])
  await using hub = await startTestHub({ overrides: { model } })
  using chat = await openChat(hub)
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  await expect(chat.say('aunt', 'hi')).rejects.toThrow(/^not_found: /)

  hub.writeAgent('aunt', AUNT)
  await untilSchedules(client, 'its schedule is there', all => all[0]?.status === 'active')
  expect((await chat.ask('aunt', 'hi')).text).toBe('hello, dear')

  hub.removeAgent('aunt')
  await untilSchedules(client, 'its schedule is held', all => all[0]?.status === 'held')
  await expect(chat.say('aunt', 'are you there?')).rejects.toThrow(/^retired: .*agents\/aunt\.md/)

  hub.writeAgent('aunt', AUNT.replace('report', 'breakfast'))
  await untilSchedules(client, 'the new line is in force', all => all[0]?.reason === 'breakfast')
  expect(await schedules(client)).toMatchObject([{ reason: 'breakfast', status: 'active' }])
  expect((await chat.ask('aunt', 'hi again')).text).toBe('back again')
  expect(model.requests.all[1]?.messages[0]?.text).toContain('hi')
})

test("a change of the config's time zone moves the schedules that name none", async () => {
  const zone = (timezone: string) => `servers: { metrics: false }\ntimezone: ${timezone}\n`
  await using hub = await startTestHub({ config: zone('Europe/Berlin'), agents: { aunt: AUNT } })
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const [berlin] = await schedules(client)
  expect(berlin?.timezone).toBe('Europe/Berlin')
  hub.writeConfig(zone('Asia/Tokyo'))
  await untilSchedules(client, 'the new zone is in force', all => all[0]?.timezone === 'Asia/Tokyo')
  const [tokyo, ...more] = await schedules(client)
  expect([tokyo?.status, more]).toEqual(['active', []])
  expect(Math.abs((tokyo?.nextRun ?? 0) - (berlin?.nextRun ?? 0)) % 86_400_000).not.toBe(0)
})

test('a call to a server that was dropped in before the start is not too early', async () => {
  const model = createScriptedModel([call([['slow__hello']]), say('done')])
  const program = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
serveStdio(() => {
  const server = new McpServer({ name: 'slow', version: '1.0.0' })
  server.registerTool('hello', { description: 'hello' }, () => ({ content: [{ type: 'text', text: 'hello' }] }))
  return server
})
`
  await using hub = await startTestHub({ data: { 'servers/slow/server.mjs': program }, overrides: { model } })
  using chat = await openChat(hub)
  // The message is sent at once: the server's process has hardly begun.
  expect((await chat.ask('homelab', 'say hello')).text).toBe('done')
  expect(model.requests.all[0]?.tools.map(({ name }) => name)).toContain('slow__hello')
  expect(model.requests.all[1]?.messages.at(-1)).toMatchObject({
    role: 'tool',
    text: 'hello',
    isError: false,
  })
})
