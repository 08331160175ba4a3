import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const model = createScriptedModel()
let hub: TestHub

beforeAll(async () => {
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, first: odd().entry } }),
    overrides: { model },
  })
  await untilReady(hub, 'first')
})
afterAll(() => hub[Symbol.asyncDispose]())

const told = (request: number) => JSON.stringify(model.requests.all[request]?.tools)

test('a server that comes or goes changes no prompt before the window changes, and is used all the same', async () => {
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  model.script(say('Good morning.'))
  await chat.ask('homelab', 'Good morning')
  expect(told(0)).toContain('first__pid')

  hub.writeData('servers/late/mcp.json', JSON.stringify(odd().entry))
  await untilReady(hub, 'late')
  model.script(
    call([['find_tools', { query: 'late__pid' }]]),
    call([['call_tool', { name: 'late__pid' }]]),
    say('It is there.'),
  )
  await chat.ask('homelab', 'Which process is late?')
  const results = (model.requests.all[3]?.messages ?? []).filter(message => message.role === 'tool')
  expect(results.map(({ name, text }) => [name, text])).toEqual([
    ['find_tools', expect.stringContaining('late__pid: Its process')],
    ['late__pid', expect.stringMatching(/^\d+$/)],
  ])

  rmSync(join(hub.dataFolder, 'servers/late'), { recursive: true })
  await using client = await openClient('sdk 1', hub)
  await until('it is gone', async () => (await client.listTools()).every(({ name }) => name !== 'late__pid'))
  hub.writeData('servers/later/mcp.json', JSON.stringify(odd().entry))
  await untilReady(hub, 'later')
  model.script(call([['call_tool', { name: 'late__pid' }]]), say('It is gone.'))
  await chat.ask('homelab', 'And now?')
  expect(model.requests.all[5]?.messages.at(-1)?.text).toBe('There is no tool late__pid.')
  for (const request of [1, 2, 3, 4, 5]) expect(told(request)).toBe(told(0))

  model.script(say('Fresh.'))
  await chat.say('homelab', '/reset')
  await chat.ask('homelab', 'Anew')
  expect(told(6)).toContain('later__pid')
})
