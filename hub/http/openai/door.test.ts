import express from 'express'
import { expect, test } from 'vitest'
import type { ChatMessage } from '../../../schemas/chat.ts'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { OWNER_PRINCIPAL } from '../../../tests/support/principals.ts'
import { openTempStore } from '../../../tests/support/temp-store.ts'
import { until } from '../../../tests/support/until.ts'
import { createSignals } from '../../core/signals.ts'
import { listen } from '../listen.ts'
import { createOpenAiDoor } from './door.ts'

const unused = () => expect.fail('The door does not use this')
const log = { debug: unused, info: unused, warn: unused, error: unused, with: unused }

test('a stream is kept alive while the agent works, and ends in words after four minutes', async () => {
  await using store = await openTempStore()
  const clock = createFakeClock()
  const message: ChatMessage = {
    seq: 1,
    id: 'msg_1',
    conversation: 'homelab/mcp-owner',
    kind: 'user',
    author: 'owner',
    text: 'hi',
    at: clock.now(),
  }
  const app = express()
  app.use(
    createOpenAiDoor({
      doors: { admit: () => OWNER_PRINCIPAL, addressOf: () => '127.0.0.1' },
      mayPass: () => true,
      hold: () => () => undefined,
      openai: {
        clock,
        log,
        signals: createSignals(unused),
        store,
        agents: unused,
        post: async () => message,
        waitForAnswer: ({ conversation }, wait) =>
          new Promise(resolve => clock.after(wait, () => resolve({ status: 'pending', conversation }))),
      },
    }),
  )
  await using listening = await listen({ host: '127.0.0.1', port: 0, onRequest: app, log })
  const answer = await fetch(`http://127.0.0.1:${listening.port}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'homelab', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  })
  let text = ''
  const read = (async () => {
    for await (const part of answer.body ?? []) text += Buffer.from(part).toString()
  })()
  const beats = () => text.split('"delta":{"content":""}').length - 1
  for (let beat = 1; beat <= 2; beat++) {
    clock.advance(15_000)
    await until('the stream is kept alive', () => beats() === beat)
  }
  expect(text).not.toContain('finish_reason":"stop"')
  clock.advance(210_000)
  await read
  expect(text).toMatch(
    /I am still at work\. The answer comes in the conversation homelab\/mcp-owner of the hub/,
  )
  expect(text).toMatch(/"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/)
})
