import { expect, test } from 'vitest'
import { startNtfy } from '../../hub/demo/ntfy.ts'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const CHANNELS = (url: string) =>
  JSON.stringify({
    phone: { kind: 'ntfy', url: `${url}/phone` },
    tablet: { kind: 'ntfy', url: `${url}/tablet` },
  })

/** Starts a hub without a language model whose only server, notifications, is found by its variables. */
async function start() {
  const ntfy = await startNtfy()
  const folder = makeTempFolder()
  const environment = {
    NOTIFICATIONS_CHANNELS: CHANNELS(ntfy.url),
    NOTIFICATIONS_DATA: `${folder.path}/n.db`,
  }
  const config = `servers:\n  metrics: false\n  notifications: { env: ${JSON.stringify(environment)} }\n`
  const hub = await startTestHub({ config })
  await using client = await openClient('sdk 1', hub)
  await until('its tools are listed', async () => {
    const tools = await client.listTools()
    return tools.some(({ name }) => name === 'send_notification')
  })
  return {
    ntfy,
    hub,
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
      await ntfy[Symbol.asyncDispose]()
    },
  }
}

test.each([
  ['send a notification to phone: disk is full', 'phone', 'disk is full'],
  ['notify my tablet that dinner is ready', 'tablet', 'dinner is ready'],
])('without a model, nothing is sent before a yes: %s', async (sentence, topic, message) => {
  await using lab = await start()
  using chat = await openChat(lab.hub)
  await chat.subscribe('homelab')
  const answer = await chat.answerTo(await chat.say('homelab', sentence))
  const { approval } = await chat.next('approval')
  expect(answer.text).toContain(`waits for a person's yes (approval ${approval.id})`)
  expect(approval).toMatchObject({ tool: 'send_notification', arguments: { channel: topic, message } })
  expect(lab.ntfy.published).toEqual([])
  chat.send({ type: 'decide', approval: approval.id, decision: 'approve' })
  await chat.next('message', one => one.message.text.includes(`Sent on ${topic} (ntfy).`))
  expect(lab.ntfy.published).toMatchObject([{ topic, message }])
})

test('without a model, the channels and the history are told', async () => {
  await using lab = await start()
  using chat = await openChat(lab.hub)
  await chat.subscribe('homelab')
  const ask = async (text: string) => (await chat.answerTo(await chat.say('homelab', text))).text
  expect(await ask('which notification channels are there?')).toContain('phone: ntfy at')
  expect(await ask('show the notification history')).toContain('No notification was sent that fits.')
})
