import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import {
  ask,
  delta,
  HELLO,
  line,
  openModel,
  refuse,
  request,
  SSE,
  serve,
  stream,
} from '../support/provider.ts'
import { startTestHub } from '../support/test-hub.ts'

const SIGNATURE = { google: { thought_signature: 'c2lnbmVk' } }
const CALL = { index: 0, id: 'one', type: 'function', function: { name: 'list_schedules', arguments: '{}' } }

/** The provider behaves like Gemini: it signs a call, and refuses the call without its signature later. */
test('a provider that signs its calls gets the signatures back with their results, through the store', async () => {
  await using provider = await serve((response, body) => {
    const isSecond = body.includes('"role":"tool"')
    if (isSecond && !body.includes(JSON.stringify(SIGNATURE))) {
      return refuse(response, 400, { message: 'Function call is missing a thought_signature' })
    }
    const call = { tool_calls: [{ ...CALL, extra_content: SIGNATURE }] }
    const signed = [delta(call, 'tool_calls'), '[DONE]'].map(line).join('')
    response.writeHead(200, SSE).end(isSecond ? HELLO : signed)
  })
  const variables = { SUPERBLOOM_MODEL: 'signed', OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'none' }
  await using hub = await startTestHub({ variables })
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  const sent = await chat.say('homelab', 'what is planned?')
  expect((await chat.answerTo(sent, ['agent', 'error'])).text).toBe('Hello')
  expect(provider.bodies).toHaveLength(2)
})

test('what a model at one address thought goes to no other address', async () => {
  const thought = [
    delta({ reasoning_content: 'secret' }),
    delta({ tool_calls: [CALL] }, 'tool_calls'),
    '[DONE]',
  ]
  await using here = await serve(stream(thought.map(line).join('')))
  await using there = await serve(stream(HELLO))
  const { reply } = await ask(openModel(here.url), 'hi')
  const [call] = reply.calls
  const again = request('', {
    messages: [
      { role: 'user', text: 'hi', items: [] },
      { role: 'assistant', ...reply },
      { role: 'tool', callId: call?.id ?? '', name: 'list_schedules', text: 'none', isError: false },
    ],
  })
  await ask(openModel(there.url), again)
  await ask(openModel(here.url), again)
  expect(there.bodies[0]).not.toContain('secret')
  expect(here.bodies[1]).toContain('secret')
})
