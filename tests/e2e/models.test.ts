import { expect, test } from 'vitest'
import { openClient } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { delta, HELLO, line, refuse, SSE, serve, stream } from '../support/provider.ts'
import { startTestHub } from '../support/test-hub.ts'

const agent = (model: string) =>
  `---\ndescription: ${model}\nmodel: ${model}\n---\nYou look after the homelab.\n`
const say = (text: string) => [delta({ content: text }, 'stop'), '[DONE]'].map(line).join('')

test('an agent is answered by the model that its file names; a name that there is not is refused', async () => {
  await using big = await serve(stream(say('the big one')))
  await using small = await serve(stream(say('the small one')))
  await using hub = await startTestHub({
    config: `servers: { metrics: false }
model:
  default: { baseUrl: "${big.url}", model: big }
  named: { cheap: { baseUrl: "${small.url}", model: small } }
`,
    agents: { first: agent('default'), second: agent('cheap'), third: agent('dear') },
  })
  await using client = await openClient('sdk 1', hub)
  const chat = async (name: string) =>
    (await client.call('hub_chat', { agent: name, message: 'hi' })).structuredContent
  expect(JSON.stringify(await chat('first'))).toContain('the big one')
  expect(JSON.stringify(await chat('second'))).toContain('the small one')
  const { structuredContent: status } = await client.call('hub_status', {})
  expect(status).toMatchObject({
    model: { kind: 'compatible', name: 'big', health: [{ name: 'big' }, { name: 'small' }] },
    problems: [expect.stringContaining('model: there is no model of that name: default, cheap')],
  })
})

test('promise 13: a refused request is repaired, the message is answered, and hub_status says how', async () => {
  await using server = await serve((response, body, call) => {
    if (!body.includes('"temperature"')) return stream(HELLO)(response, body, call)
    refuse(response, 400, { param: 'temperature', code: 'unsupported_value', message: 'only 1' })
  })
  await using hub = await startTestHub({
    config: `servers: { metrics: false }
model: { default: { baseUrl: "${server.url}", model: m, temperature: 0.2 } }
`,
  })
  const ask = async () => {
    await using client = await openClient('sdk 1', hub)
    const { structuredContent } = await client.call('hub_chat', { agent: 'homelab', message: 'hi' })
    expect(JSON.stringify(structuredContent)).toContain('Hello')
    return (await client.call('hub_status', {})).structuredContent
  }
  const quirk = { model: 'm', what: 'is asked without the parameter temperature', since: expect.any(Number) }
  expect(await ask()).toMatchObject({ model: { quirks: [quirk] } })
  await hub.stop()
  await hub.start()
  await ask()
  expect(server.bodies.map(body => body.includes('"temperature"'))).toEqual([true, false, false])
})

test('promise 13: a fallback of another provider gets the history in its own form', async () => {
  let isDown = false
  const usage = { input_tokens: 12, output_tokens: 3 }
  const events = [
    { type: 'message_start', message: { id: 'm', model: 'm', role: 'assistant', content: [], usage } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'secret' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'from Anthropic' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  await using first = await serve(response => {
    if (isDown) return refuse(response, 401, { message: 'no' })
    response.writeHead(200, SSE).end(events.map(event => `event: ${event.type}\n${line(event)}`).join(''))
  })
  await using spare = await serve(stream(HELLO))
  await using hub = await startTestHub({
    config: `servers: { metrics: false }
model:
  default: { provider: anthropic, baseUrl: "${first.url}", model: claude }
  fallback: [{ baseUrl: "${spare.url}", model: spare }]
`,
  })
  await using client = await openClient('sdk 1', hub)
  const ask = async () =>
    JSON.stringify((await client.call('hub_chat', { agent: 'homelab', message: 'hi' })).structuredContent)
  expect(await ask()).toContain('from Anthropic')
  // The thoughts are sent back even with a reply of text.
  expect(await ask()).toContain('from Anthropic')
  expect(JSON.parse(first.bodies[1] ?? '').messages[1].content[0]).toMatchObject({
    type: 'thinking',
    thinking: 'secret',
    signature: 'sig',
  })
  isDown = true
  expect(await ask()).toContain('Hello')
  expect(spare.bodies[0]).toContain('from Anthropic')
  expect(spare.bodies[0]).not.toContain('secret')
})

test('a provider that says its sizes only once it answers is asked for them again, and then no more', async () => {
  let questions = 0
  await using server = await serve((response, body, call) => {
    if (call.method !== 'GET') return stream(HELLO)(response, body, call)
    if (call.url === '/v1/models') questions++
    if (questions < 3) return refuse(response, 503, { message: 'Loading model' })
    const listed = { data: [{ id: 'm', owned_by: 'vllm', max_model_len: 4_096 }] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listed))
  })
  await using hub = await startTestHub({
    config: `servers: { metrics: false }\nmodel: { default: { baseUrl: "${server.url}", model: m } }\n`,
  })
  await using client = await openClient('sdk 1', hub)
  const chat = () => client.call('hub_chat', { agent: 'homelab', message: 'hi' })
  expect(questions).toBe(1)
  await chat()
  await chat()
  const sizes = await hub.logs.find('the sizes', ({ event }) => event === 'model_sizes_changed')
  expect(sizes).toMatchObject({ model: 'm', context: 4_096, maxOutput: 1_024 })
  await chat()
  await chat()
  const limits = server.bodies.map(body => JSON.parse(body).max_tokens)
  expect(limits).toEqual([4_096, 4_096, 1_024, 1_024])
  expect(questions).toBe(3)
})

test('a tool that the model refuses is named at its server', async () => {
  await using server = await serve((response, body, call) => {
    if (!body.includes('"name":"get_disk_health"')) return stream(HELLO)(response, body, call)
    const message = "Invalid schema for function 'get_disk_health'"
    refuse(response, 400, { message, code: 'invalid_function_parameters' })
  })
  await using hub = await startTestHub({
    config: `servers: { metrics: {} }\nmodel: { default: { baseUrl: "${server.url}", model: m } }\n`,
  })
  await untilReady(hub, 'metrics')
  await using client = await openClient('sdk 1', hub)
  const { structuredContent: chat } = await client.call('hub_chat', { agent: 'homelab', message: 'hi' })
  expect(JSON.stringify(chat)).toContain('Hello')
  const { structuredContent: status } = await client.call('hub_status', {})
  expect(status).toMatchObject({
    servers: [{ name: 'metrics', leftOut: ['get_disk_health: the model m refuses it'] }],
  })
})
