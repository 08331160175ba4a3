import { expect, test, vi } from 'vitest'
import { openCrashHub } from '../support/crash-hub.ts'
import { gather, messagesIn, openAi, textOfChunks, user } from '../support/talk-hub.ts'

// Each test starts the hub twice.
vi.setConfig({ testTimeout: 120_000 })

test.each([
  ['before it has the message', { at: 'before commit', writing: 'insert into "inbox"' }],
  ['once it has the message', { at: 'after commit', writing: 'insert into "inbox"' }],
  ['before the call of a tool is planned', { at: 'before commit', writing: 'insert into "tool_calls"' }],
  ['before the reply is on the disk', { at: 'before commit', writing: 'update "cycles" set "status"' }],
])('promise 1: killed %s, a repeat with the key gets the answer of the one work', async (_when, dieAt) => {
  await using hub = await openCrashHub()
  const ask = async () => {
    const body = { model: 'homelab', messages: [user('please change n1')], stream: true as const }
    const headers = { 'Idempotency-Key': 'once' }
    return textOfChunks(await gather(await openAi(hub).chat.completions.create(body, { headers })))
  }
  await hub.start(dieAt)
  await expect(ask()).rejects.toThrow()
  await hub.died()
  await hub.start()
  expect(await ask()).toMatch(/Done: change did n1$/)
  expect(await ask()).toBe('Done: change did n1')
  const told = await messagesIn(hub, 'homelab/mcp-owner')
  expect(told.filter(text => !text.startsWith('tool: '))).toEqual([
    'user: please change n1',
    'agent: Done: change did n1',
  ])
  expect(hub.calls()).toHaveLength(1)
})
