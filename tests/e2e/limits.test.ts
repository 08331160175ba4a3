import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { startCli } from '../support/cli.ts'
import { LINES, openClient } from '../support/clients.ts'
import { delta, line, serve, stream } from '../support/provider.ts'
import { call, createScriptedModel, hold, say, type Turn } from '../support/scripted-model.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const agent = (limits: string) =>
  `---\ndescription: Looks after the homelab\nlimits: ${limits}\n---\nYou look after it.\n`

/** Returns a turn that streams something and then waits for ever. */
function endless() {
  const held = hold(say('never'))
  const turn: Turn = (request, options) => {
    options.onText('Let me see')
    return held.turn(request, options)
  }
  return { turn, begun: held.begun }
}

test('promise 9: the frame stop ends what runs, keeps what was said, and says who stopped it', async () => {
  const model = createScriptedModel()
  await using hub = await startTestHub({ overrides: { model } })
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  const { turn, begun } = endless()
  model.script(turn, say('again'))
  const asked = await chat.say('homelab', 'go')
  await begun
  chat.send({ type: 'stop', conversation: 'homelab' })
  expect((await chat.answerTo(asked)).text).toBe('Let me see\n\n(stopped here)')
  expect((await chat.answerTo(asked, ['notice'])).text).toMatch(/^I was stopped by owner\./)
  expect((await chat.ask('homelab', 'and now?')).text).toBe('again')
  chat.send({ type: 'stop', thread: 'thr_homelab' })
  expect(await chat.next('error', ({ code }) => code === 'conflict')).toMatchObject({
    message: 'Nothing is running; there is nothing to stop.',
  })
  chat.send({ type: 'stop', thread: 'thr_nobody' })
  expect(await chat.next('error', ({ code }) => code === 'not_found')).toMatchObject({
    message: 'There is no thread thr_nobody',
  })
  chat.send({ type: 'stop' })
  chat.send({ type: 'stop', thread: 'thr_homelab', conversation: 'homelab' })
  await until('both are refused', () => {
    const refused = chat.frames.all.filter(frame => frame.type === 'error' && frame.code === 'bad_request')
    return refused.length === 2
  })
})

test.each(LINES)('hub_stop and /stop for a client of %s', async protocol => {
  const model = createScriptedModel()
  await using hub = await startTestHub({ overrides: { model } })
  await using client = await openClient(protocol, hub)
  await using other = await openClient(protocol, hub)
  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, isError } = await client.call(name, args)
    return isError ? 'refused' : structuredContent
  }
  expect(await call('hub_stop', { conversation: 'homelab' })).toEqual({ stopped: [] })
  expect(await call('hub_stop', {})).toBe('refused')
  expect(await call('hub_stop', { thread: 'thr_nobody' })).toBe('refused')
  for (const stop of [
    () => call('hub_stop', { thread: 'thr_homelab' }),
    () => call('hub_chat', { conversation: 'homelab', message: '/stop' }),
  ]) {
    const { turn, begun } = endless()
    model.script(turn)
    const answer = other.call('hub_chat', { conversation: 'homelab', message: 'go' })
    await begun
    await stop()
    expect((await answer).structuredContent).toMatchObject({
      status: 'replied',
      reply: 'Let me see\n\n(stopped here)',
    })
  }
  expect(await call('hub_chat', { conversation: 'homelab', message: '/stop' })).toMatchObject({
    status: 'replied',
    reply: 'Nothing is running; there is nothing to stop.',
  })
})

test('a day that is used up: hub_chat says until when, and the status shows what was used', async () => {
  const model = createScriptedModel()
  await using hub = await startTestHub({
    config: 'timezone: UTC\nservers: { metrics: false }\nbudget: { tokensPerDay: 900000 }\n',
    agents: { homelab: agent('{ tokensPerDay: 17000 }') },
    overrides: { model },
  })
  await using client = await openClient(LINES[0], hub)
  model.script(async (request, options) => ({
    ...(await say('done')(request, options)),
    usage: { input: 16_000, output: 500, cachedInput: 0 },
  }))
  await client.call('hub_chat', { message: 'one' })
  const held = await client.call('hub_chat', { message: 'two' })
  expect(held.structuredContent).toMatchObject({
    status: 'waiting',
    reply: expect.stringContaining('raise limits.tokensPerDay in agents/homelab.md'),
  })
  expect((await client.call('hub_list_agents', {})).structuredContent).toMatchObject({
    agents: [{ name: 'homelab', status: 'waiting', tokensToday: 16_500, moneyToday: 0, pending: 1 }],
  })
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    budgets: {
      tokens: { used: 16_500, limit: 900_000 },
      money: { used: 0 },
      agents: [{ name: 'homelab', tokens: { used: 16_500, limit: 17_000 }, wakes: { used: 0, limit: 200 } }],
    },
  })
  await using status = startCli(['status'], { variables: hub.variables, input: '' })
  expect((await status.ended()).stdout).toContain('Today: 16,500 of 900,000 tokens')
  const told = await client.call('hub_chat', { message: 'three' })
  expect(told.structuredContent).toEqual({
    ...(held.structuredContent as object),
    messageId: expect.any(String),
  })
  model.script(say('go on'))
  hub.writeAgent('homelab', agent('{ tokensPerDay: 600000 }'))
  using chat = await openChat(hub)
  await chat.subscribe('homelab/mcp-owner', 0)
  await chat.next('message', ({ message }) => message.text === 'go on')
})

test('a day that is used up in the midst of a cycle: the agent waits, and hub_chat says until when', async () => {
  const look = call([['get_context', {}]])
  const model = createScriptedModel([
    async (request, options) => ({
      ...(await look(request, options)),
      usage: { input: 16_000, output: 500, cachedInput: 0 },
    }),
  ])
  await using hub = await startTestHub({
    agents: { homelab: agent('{ tokensPerDay: 17000 }') },
    overrides: { model },
  })
  await using client = await openClient(LINES[0], hub)
  const ask = { message: 'one', idempotencyKey: 'k', waitSeconds: 2 }
  const held = (await client.call('hub_chat', ask)).structuredContent
  expect(held).toMatchObject({ status: 'waiting', reply: expect.stringContaining('I rest until') })
  expect((await client.call('hub_chat', ask)).structuredContent).toEqual(held)
  expect((await client.call('hub_list_agents', {})).structuredContent).toMatchObject({
    agents: [{ name: 'homelab', status: 'waiting' }],
  })
  expect((await client.call('hub_list_threads', {})).structuredContent).toMatchObject({
    threads: [{ agent: 'homelab', status: 'waiting' }],
  })
})

test('limits.tokens too small for prompt and tools is refused with the figure, and the agent answers', async () => {
  await using hub = await startTestHub({
    agents: { homelab: agent('{ tokens: 1000 }') },
    overrides: { model: createScriptedModel([say('here I am')]) },
  })
  await using client = await openClient(LINES[0], hub)
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    problems: [expect.stringMatching(/limits\.tokens 1,000 is refused: .* Set it to at least [\d,]+/)],
  })
  expect((await client.call('hub_chat', { message: 'hi' })).structuredContent).toMatchObject({
    status: 'replied',
    reply: 'here I am',
  })
})

test('a limit on money without prices is refused: at the start for all, in its file for an agent', async () => {
  const start = startTestHub({ config: 'servers: { metrics: false }\nbudget: { moneyPerDay: 5 }\n' })
  await expect(start).rejects.toThrow(/budget\.moneyPerDay: money cannot be limited without prices/)
  await using hub = await startTestHub({
    agents: { homelab: agent('{ moneyPerDay: 1 }'), zoe: agent('{}') },
  })
  await using client = await openClient(LINES[0], hub)
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    problems: [expect.stringContaining('limits.moneyPerDay: money cannot be limited without prices')],
    budgets: { agents: [{ name: 'zoe' }] },
  })
})

test('what a provider counts is paid at its price, and a day of money ends as one of tokens does', async () => {
  const usage = {
    prompt_tokens: 16_000,
    completion_tokens: 1_000,
    prompt_tokens_details: { cached_tokens: 12_000 },
  }
  const reply = [delta({ content: 'Hello' }), delta({}, 'stop'), { choices: [], usage }, '[DONE]']
  await using provider = await serve(stream(reply.map(line).join('')))
  const price = '{ currency: EUR, input: 10, cachedInput: 1, output: 20 }'
  await using hub = await startTestHub({
    config: `servers: { metrics: false }\nmodel: { default: { baseUrl: "${provider.url}", model: m, price: ${price} } }\n`,
    agents: { homelab: agent('{ moneyPerDay: 0.1 }') },
  })
  await using client = await openClient(LINES[0], hub)
  await client.call('hub_chat', { message: 'one' })
  // 4,000 fresh, 12,000 cached (a tenth of it as tokens), 1,000 out, in millionths.
  const money = (4_000 * 10 + 12_000 * 1 + 1_000 * 20) / 1_000_000
  expect((await client.call('hub_list_agents', {})).structuredContent).toMatchObject({
    agents: [{ tokensToday: 6_200, moneyToday: money }],
  })
  const held = await client.call('hub_chat', { message: 'two' })
  expect(held.structuredContent).toMatchObject({
    status: 'waiting',
    reply: expect.stringMatching(
      /0\.072 EUR of 0\.1 EUR are used.*raise limits\.moneyPerDay in agents\/homelab\.md/,
    ),
  })
  expect(provider.bodies).toHaveLength(1)
  await using status = startCli(['status'], { variables: hub.variables, input: '' })
  expect((await status.ended()).stdout).toContain('homelab: 6,200 of 5,000,000 tokens, 0.072 of 0.1 EUR')
})

test('Ctrl+C while superbloom ask waits stops the agent', async () => {
  const model = createScriptedModel()
  await using hub = await startTestHub({ overrides: { model } })
  const { turn, begun } = endless()
  model.script(turn)
  await using asking = startCli(['ask', 'homelab', 'go'], { variables: hub.variables, input: '' })
  await begun
  asking.kill('SIGINT')
  const { stdout, stderr, code } = await asking.ended()
  expect(stdout).toContain('Let me see\n\n(stopped here)')
  expect(stderr).toContain('Stopping the agent')
  expect(code).toBe(0)
})
