import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Action } from '../../hub/demo/ntfy.ts'
import { openChat } from '../support/chat-client.ts'
import { askForSwallow, press, startPhoneHub } from '../support/phone-hub.ts'
import { createRecord } from '../support/until.ts'
import { type RealNtfy, startRealNtfy } from './setup/ntfy.ts'

/* The real ntfy 2.11 of Debian trixie, a subscribed client, and a hub whose agent needs a yes. */

interface Told {
  event: string
  title?: string
  message?: string
  actions?: Action[]
}

let ntfy: RealNtfy
beforeAll(async () => {
  ntfy = await startRealNtfy()
}, 180_000)
afterAll(() => ntfy?.[Symbol.asyncDispose]())

/** Subscribes as ntfy's apps do; resolves once the stream is open. */
async function subscribe(topic: string) {
  const end = new AbortController()
  const events = createRecord<Told>()
  const answer = await fetch(`${ntfy.url}/${topic}/json`, {
    headers: { authorization: `Bearer ${ntfy.tokens.admin}` },
    signal: end.signal,
  })
  const read = async () => {
    let rest = ''
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) events.add(JSON.parse(line) as Told)
    }
  }
  const done = read().catch(error => {
    if (!end.signal.aborted) throw error
  })
  await events.find('the stream is open', ({ event }) => event === 'open')
  return {
    events,
    async [Symbol.asyncDispose]() {
      end.abort()
      await done
    },
  }
}

test('a subscribed phone gets the approval with buttons, and a press runs the call once', async () => {
  const channel = { kind: 'ntfy', url: `${ntfy.url}/approvals`, token: ntfy.tokens.admin }
  await using lab = await startPhoneHub({ channel })
  await using phone = await subscribe('approvals')
  using chat = await openChat(lab.hub)
  await chat.subscribe('homelab')
  await askForSwallow(lab.hub, { any: 'ä `x` [y](http://evil)' })
  const told = await phone.events.find('it is told', ({ event }) => event === 'message')
  expect(told).toMatchObject({
    title: 'homelab asks for odd__swallow',
    actions: [
      { action: 'http', label: 'Approve', method: 'POST', clear: true },
      { action: 'http', label: 'Deny', method: 'POST', clear: true },
    ],
  })
  const [approve] = told.actions ?? []
  if (!approve) throw new Error('There is no button')
  expect(await press(lab.hub, approve)).toMatchObject({ status: 200, text: 'odd__swallow is approved.\n' })
  await chat.next('message', ({ message }) => message.kind === 'tool' && message.text === 'swallowed')
  expect((await press(lab.hub, approve)).status).toBe(404)
  const runs = chat.messages.filter(({ kind, text }) => kind === 'tool' && text === 'swallowed')
  expect(runs).toHaveLength(1)
  expect(phone.events.all.filter(({ event }) => event === 'message')).toHaveLength(1)
})
