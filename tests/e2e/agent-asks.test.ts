import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Approval } from '../../schemas/chat.ts'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { openCrashHub } from '../support/crash-hub.ts'
import { askingServer, untilReady } from '../support/downstream.ts'
import { call, createScriptedModel, refuse, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const ERAS = ['modern', 'legacy'] as const

describe('an agent calls servers that ask', () => {
  const model = createScriptedModel()
  let hub: TestHub
  let chat: ChatClient
  beforeAll(async () => {
    const servers = Object.fromEntries(ERAS.map(era => [era, { ...askingServer(era), sampling: true }]))
    hub = await startTestHub({
      config: JSON.stringify({ servers: { metrics: false, ...servers } }),
      overrides: { model },
    })
    await untilReady(hub, ...ERAS)
  })
  afterAll(() => hub[Symbol.asyncDispose]())
  beforeEach(async () => {
    chat = await openChat(hub)
    await chat.subscribe('homelab')
  })
  afterEach(() => chat[Symbol.dispose]())

  /** Makes the agent call a tool. */
  async function start(tool: string): Promise<unknown> {
    model.script(call([[tool]]), say(`${tool} asks`), say(`${tool} is over`))
    return chat.say('homelab', `call ${tool}`)
  }
  const asked = async (tool: string): Promise<Approval> =>
    (await chat.next('approval', ({ approval }) => approval.tool === tool && approval.status === 'open'))
      .approval
  const decide = ({ id }: Approval, decision: 'approve' | 'deny', note?: string) =>
    chat.send({ type: 'decide', approval: id, decision, ...(note === undefined ? {} : { note }) })
  /** Returns the answer that the server got to its question. */
  async function answered(tool: string, said = `${tool} is over`): Promise<unknown> {
    await chat.next('message', ({ message }) => message.kind === 'agent' && message.text === said)
    const told = chat.messages.findLast(({ author, data }) => author === tool && data?.['status'] === 'ok')
    return told && JSON.parse(told.text)
  }

  test.each(ERAS)(
    'a server of the %s era gets the values of a note, and a note that is none is refused',
    async era => {
      const tool = `${era}__set_up`
      await start(tool)
      const approval = await asked(tool)
      expect(approval).toMatchObject({
        question: true,
        reason: `the server ${era} asks, in its own words: “Where does it listen?”. Never answer with a password or a key`,
        arguments: {
          wants: { port: 'integer from 1 to 65535, required', host: 'text, default "localhost"' },
        },
      })
      decide(approval, 'approve', 'whatever')
      const { code, message: why } = await chat.next('error')
      expect([code, why]).toEqual(['invalid_arguments', expect.stringContaining('port: is no number')])
      decide(approval, 'approve', '8080')
      expect(await answered(tool)).toMatchObject({
        action: 'accept',
        content: { port: 8080, host: 'localhost' },
      })
    },
  )

  test.each(ERAS)('a server of the %s era gets a no', async era => {
    const tool = `${era}__set_up`
    await start(tool)
    decide(await asked(tool), 'deny')
    expect(await answered(tool)).toMatchObject({ action: 'decline' })
  })

  test.each(ERAS)('a server of the %s era has a page opened', async era => {
    const tool = `${era}__sign_in`
    await start(tool)
    const approval = await asked(tool)
    expect(approval.arguments).toEqual({ opens: 'https://example.org/in' })
    decide(approval, 'approve')
    expect(await answered(tool)).toMatchObject({ action: 'accept' })
  })

  test('a call that wants a page opened first tells the agent which, and what to do then', async () => {
    model.script(call([['legacy__open_mail']]), say('over'))
    await chat.answerTo(await chat.say('homelab', 'open the mail'))
    const told = chat.messages.findLast(({ author }) => author === 'legacy__open_mail')
    expect(told?.data?.['status']).toBe('error')
    expect(told?.text).toBe(
      'legacy__open_mail did nothing: a person has to open this page in a browser first. https://example.org/in (the server legacy asks, in its own words: “Sign in”. Never answer with a password or a key) Give them the address unchanged, and call legacy__open_mail again once they say that it is done.',
    )
  })

  test.each(ERAS)('hub_chat does not wait for the answer to what a server of the %s era asks', async era => {
    await using client = await openClient('sdk 2, 2026-07-28', hub)
    const tool = `${era}__sign_in`
    model.script(call([[tool]]), say('It asks you'), say('over'))
    const said = await client.call('hub_chat', { message: 'sign in', conversation: 'homelab' })
    const { id } = await asked(tool)
    expect(said.structuredContent).toEqual({
      conversation: 'homelab',
      messageId: expect.any(String),
      status: 'waiting',
      reply: 'It asks you',
    })
    const agents = await client.call('hub_list_agents')
    expect(agents.structuredContent).toMatchObject({ agents: [{ name: 'homelab', status: 'waiting' }] })
    chat.send({ type: 'decide', approval: id, decision: 'deny' })
    await chat.next('message', ({ message }) => message.kind === 'agent' && message.text === 'over')
  })

  test.each(ERAS)('a server of the %s era has the model write', async era => {
    const tool = `${era}__write`
    model.script(call([[tool]]), say('blue'), say('over'))
    await chat.say('homelab', 'write')
    expect(await answered(tool, 'over')).toEqual({
      role: 'assistant',
      content: { type: 'text', text: 'blue' },
      model: 'scripted',
      stopReason: 'endTurn',
    })
  })

  test.each(ERAS)('a server of the %s era hears that the model fails', async era => {
    model.script(call([[`${era}__write`]]), refuse('rejected'), say('it failed'))
    expect((await chat.answerTo(await chat.say('homelab', 'write'))).text).toBe('it failed')
    const told = chat.messages.findLast(({ author }) => author === `${era}__write`)
    expect([told?.data?.['status'], told?.text]).toEqual([
      'error',
      expect.stringContaining('The provider says rejected'),
    ])
  })
})

test('the built-in model writes for no server', async () => {
  await using hub = await startTestHub({
    config: JSON.stringify({
      servers: { metrics: false, legacy: { ...askingServer('legacy'), sampling: true } },
    }),
  })
  await untilReady(hub, 'legacy')
  using chat = await openChat(hub)
  await chat.ask('homelab', '/call legacy__write {}')
  const { approval } = await chat.next('approval')
  chat.send({ type: 'decide', approval: approval.id, decision: 'approve' })
  await chat.next('message', ({ message: { author, text } }) => {
    return author === 'legacy__write' && text.includes('No language model is at work here')
  })
})

test('promise 4: killed while a person is asked, nothing is left open and the call is in doubt', async () => {
  await using hub = await openCrashHub()
  const first = await hub.start()
  await first.subscribe('homelab')
  await first.say('homelab', 'please change asked-1')
  const { approval } = await first.next('approval')
  await hub.kill()
  const chat = await hub.start()
  await chat.subscribe('homelab', 0)
  await chat.next('message', ({ message }) => message.kind === 'tool' && /Outcome unknown/.test(message.text))
  chat.send({ type: 'decide', approval: approval.id, decision: 'approve' })
  expect((await chat.next('error')).code).toBe('conflict')
  await hub.kill()
  expect(hub.rows('select status, note from approvals')).toEqual([
    { status: 'expired', note: 'The hub stopped before anybody answered.' },
  ])
})
