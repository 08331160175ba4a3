import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Action } from '../../hub/demo/ntfy.ts'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { askForSwallow, press, startPhoneHub } from '../support/phone-hub.ts'
import type { TestHub } from '../support/test-hub.ts'
import { createRecord, until } from '../support/until.ts'
import { type RealNtfy, startRealNtfy } from './setup/ntfy.ts'

/* The real ntfy of Debian trixie (2.11) and of forky (2.27), a subscribed client, and a hub whose agent needs a yes. */

interface Told {
  event: string
  title?: string
  message?: string
  actions?: Action[]
  sequence_id?: string
}

/** Subscribes as ntfy's apps do; resolves once the stream is open. */
async function subscribe(ntfy: RealNtfy, topic: string) {
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

/** Returns the notes of the newest message of the outbox, once that is sent. */
async function untilNoted(hub: TestHub, note: string) {
  await using client = await openClient('sdk 1', hub)
  await until('the outbox is done with it', async () => {
    const { structuredContent } = await client.call('get_notification_history', { limit: 1 })
    const [newest] = (structuredContent as { notifications: { notes?: string[] }[] }).notifications
    return newest?.notes?.[0]?.startsWith(note)
  })
}

describe.each([
  ['trixie', 'the earlier message stays', []],
  ['forky', 'the earlier message was removed', ['message_delete']],
] as const)('ntfy of %s', (suite, note, removing) => {
  let ntfy: RealNtfy
  beforeAll(async () => {
    ntfy = await startRealNtfy({ suite })
  }, 180_000)
  afterAll(() => ntfy?.[Symbol.asyncDispose]())
  const start = (topic: string, token = ntfy.tokens.admin) =>
    startPhoneHub({
      channel: { kind: 'ntfy', url: `${ntfy.url}/${topic}`, token },
      notify: { channel: 'phone', private: true, about: ['approvals'] },
    })

  test('a subscribed phone gets the approval with buttons, and a press runs the call once', async () => {
    await using lab = await start('approvals')
    await using phone = await subscribe(ntfy, 'approvals')
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

  test('an approval that is decided on the page goes from the phone, where ntfy can do that', async () => {
    // This user may only write.
    await using lab = await start('lab', ntfy.tokens.writer)
    await using phone = await subscribe(ntfy, 'lab')
    using chat = await openChat(lab.hub)
    const { id } = await askForSwallow(lab.hub, { any: 'x' })
    const told = await phone.events.find('it is told', ({ event }) => event === 'message')
    chat.send({ type: 'decide', approval: id, decision: 'deny' })
    await untilNoted(lab.hub, note)
    const events = phone.events.all.filter(({ event }) => event.startsWith('message'))
    expect(events.map(({ event }) => event)).toEqual(['message', ...removing])
    for (const { sequence_id } of events) expect(sequence_id).toBe(told.sequence_id)
  })
})
