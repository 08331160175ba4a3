import { expect, test } from 'vitest'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { call, createScriptedModel, say, type Turn } from '../support/scripted-model.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const schema = {
  type: 'object',
  properties: { free: { $ref: '#/$defs/bytes' } },
  required: ['free'],
  $defs: { bytes: { type: 'integer' } },
}

const startHub = (...turns: Turn[]) => startTestHub({ overrides: { model: createScriptedModel(turns) } })

async function ask<Result extends object>(
  client: TestClient,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Result & { shown: string }> {
  const result = await client.call(name, args)
  expect(result.isError, textOf(result)).toBeFalsy()
  return { ...(result.structuredContent as Result), shown: textOf(result) }
}

test('hub_chat gives the reply as data, after one repair', async () => {
  await using hub = await startHub(say('Seven.'), say('```json\n{"free": 7}\n```'), say('Hello.'))
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const asked = await ask<{ conversation: string }>(client, 'hub_chat', {
    message: 'How much is free?',
    schema,
  })
  expect(asked).toMatchObject({ status: 'replied', structured: { free: 7 } })
  expect(asked).toHaveProperty('reply', '```json\n{"free": 7}\n```')
  const { conversation } = asked
  expect(await ask(client, 'hub_read_messages', { conversation })).toMatchObject({
    messages: [{ kind: 'user' }, { kind: 'agent', data: { structured: { free: 7 } } }],
  })
  const plain = await ask(client, 'hub_chat', { message: 'Hi' })
  expect(plain).toMatchObject({ status: 'replied', reply: 'Hello.' })
  expect(plain).not.toHaveProperty('structured')
})

test('hub_chat says why there is no data, and gives the text', async () => {
  await using hub = await startHub(say('Seven.'), say('{"free": "7"}'))
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const asked = await ask(client, 'hub_chat', { message: 'How much is free?', schema })
  expect(asked).toMatchObject({ status: 'replied', reply: '{"free": "7"}' })
  expect(asked).toHaveProperty('structuredError', expect.stringContaining('#/free'))
  expect(asked).not.toHaveProperty('structured')
  expect(asked.shown).toContain('#/free')
})

test('hub_chat refuses a schema that answers cannot be checked against, and sends nothing', async () => {
  await using hub = await startHub()
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const remote = { type: 'object', properties: { a: { $ref: 'https://x.test/a.json' } } }
  for (const wrong of [{ type: 'array' }, remote, { type: 'object', title: 'x'.repeat(8_192) }]) {
    const result = await client.call('hub_chat', { message: 'Hi', schema: wrong })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^hub_chat: schema: /)
  }
  expect(await ask(client, 'hub_list_threads')).toMatchObject({ threads: [] })
})

test('without a model the answer is a text, and the caller is told that it is no data', async () => {
  await using hub = await startTestHub()
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const asked = await ask(client, 'hub_chat', { message: 'What can you do?', schema })
  expect(asked).toMatchObject({ structuredError: expect.stringContaining('it is not JSON') })
  expect(asked).toHaveProperty('reply', expect.not.stringContaining('schema'))
})

interface Listed {
  id: string
  kind: string
  cycles: number
}

const isTold = ({ kind, cycles }: Listed) => kind === 'main' && cycles === 2

test("a task's result is in the list of threads and in what its maker reads", async () => {
  const done = call([['complete_task', { summary: 'Measured.', result: { free: 7 } }]])
  const make = call([['create_task', { instructions: 'Measure.', schema }]])
  let steps = 0
  const turn: Turn = (request, options) => {
    const next = request.system.includes('The task:') ? done : steps++ === 0 ? make : say('ok')
    return next(request, options)
  }
  await using hub = await startHub(...Array.from({ length: 6 }, () => turn))
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  await ask(client, 'hub_chat', { message: 'go' })
  const threads = async () => {
    const { threads: listed } = await ask<{ threads: Listed[] }>(client, 'hub_list_threads')
    return listed
  }
  await until('the main thread was told', async () => (await threads()).some(isTold))
  const task = (await threads()).find(({ kind }) => kind === 'task')
  expect(task).toMatchObject({ status: 'complete', result: { free: 7 } })
  const read = await ask(client, 'hub_read_thread', { thread: task?.id })
  expect(read).toMatchObject({ thread: { summary: 'Measured.', result: { free: 7 } } })
  const main = await ask(client, 'hub_read_thread', { thread: 'thr_homelab' })
  expect(JSON.stringify(main)).toContain('> Result: {\\"free\\":7}')
})
