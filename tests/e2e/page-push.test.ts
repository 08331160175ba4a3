import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { askForSwallow } from '../support/phone-hub.ts'
import { pushFetch, startPushService } from '../support/push-service.ts'
import { type RawRequest, send } from '../support/raw-http.ts'
import { readRows } from '../support/read-rows.ts'
import { make } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const AGENT = '---\napprove: ["odd__sw*"]\n---\nYou look after the homelab.\n'
const servers = { metrics: false, odd: odd().entry }

let service: Awaited<ReturnType<typeof startPushService>>
let hub: TestHub
beforeAll(async () => {
  service = await startPushService()
  hub = await startTestHub({
    config: JSON.stringify({ servers, notify: { channel: 'page', private: true } }),
    agents: { homelab: AGENT },
    overrides: { pushFetch },
  })
  await untilReady(hub, 'odd')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** Signs in as the page does. */
async function signIn(to: TestHub = hub, secret = to.token): Promise<string> {
  const headers = { Authorization: `Bearer ${secret}` }
  const { json } = await send(`${to.url}/session`, { method: 'POST', headers })
  return (json as { token: string }).token
}
const door = (token: string, method: string, body?: unknown, to: TestHub = hub, more: RawRequest = {}) =>
  send(`${to.url}/session/push`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...more,
  })
let asked = 0
/** Has the agent ask for a call; resolves with its approval and the push that tells of it. */
async function ask() {
  const approval = await askForSwallow(hub, { any: `n${++asked}` })
  const push = await service.pushes.find('a push comes', ({ message }) => message.tag === approval.id)
  return { approval, push }
}
const problems = async () => {
  await using client = await openClient('sdk 1', hub)
  const { structuredContent } = await client.call('hub_status', {})
  return (structuredContent as { problems: string[] }).problems
}
/** Answers as the page's worker does, which resolves the address at the page. */
const press = (url: string, body: string) =>
  send(new URL(url, `${hub.url}/`).href, { method: 'POST', body, headers: { Origin: hub.url } })

test('promise 15: an approval reaches the browser, and its button runs the call once', async () => {
  const session = await signIn()
  const { json } = await door(session, 'GET')
  expect(json).toEqual({ publicKey: expect.stringMatching(/^[\w-]{87}$/) })
  expect(await problems()).toEqual([expect.stringContaining('no browser takes notifications')])
  expect((await door(session, 'PUT', service.subscribe('phone'))).status).toBe(204)
  expect(await problems()).toEqual([])
  expect((await door(session, 'POST')).status).toBe(204)
  await service.pushes.find('the test comes', ({ message }) => message.title === 'Superbloom')

  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  const { push } = await ask()
  expect(push.sender).toBe((json as { publicKey: string }).publicKey)
  const { title, text, conversation, buttons = [] } = push.message
  expect({ title, conversation }).toEqual({ title: 'homelab asks for odd__swallow', conversation: 'homelab' })
  expect(text.split('\n\n')).toEqual([
    `homelab wants to call \`odd__swallow\` with \`{"any":"n${asked}"}\``,
    'Why a person decides: `approve in agents/homelab.md lists it`',
    expect.stringMatching(/^It expires on /),
  ])
  const [approve] = buttons
  expect(buttons.map(({ label, url }) => [label, url.replace(/sba_.*/, '')])).toEqual([
    ['Approve', 'a/'],
    ['Deny', 'a/'],
  ])
  expect(await press(approve?.url ?? '', approve?.body ?? '')).toMatchObject({
    status: 200,
    text: 'odd__swallow is approved.\n',
  })
  await chat.next('message', ({ message }) => message.kind === 'tool' && message.text === 'swallowed')
  expect((await press(approve?.url ?? '', approve?.body ?? '')).status).toBe(404)
  const isUpdate = ({ message }: typeof push) => message.tag === push.message.tag && message.isOver === true
  const { message } = await service.pushes.find('what became of it is told', isUpdate)
  expect(message).toEqual({
    tag: push.message.tag,
    title,
    text: 'It is approved by owner.',
    conversation,
    isOver: true,
  })
  await door(session, 'DELETE')
  expect(await problems()).toEqual([expect.stringContaining('no browser takes notifications')])
})

test('a session that ends takes its notifications with it', async () => {
  const [phone, desk] = [await signIn(), await signIn()]
  await door(phone, 'PUT', service.subscribe('phone'))
  await door(desk, 'PUT', service.subscribe('desk'))
  await send(`${hub.url}/session`, { method: 'DELETE', headers: { Authorization: `Bearer ${phone}` } })
  const { approval } = await ask()
  await hub.logs.find('it is sent', ({ event, id }) => event === 'notification_sent' && id === approval.id)
  const to = service.pushes.all.filter(({ message }) => message.tag === approval.id)
  expect(to.map(({ browser }) => browser)).toEqual(['desk'])
  await door(desk, 'DELETE')
})

test("reminders are told, but not while the owner looks; the hub's keys are in no log, and stay over a restart", async () => {
  const session = await signIn()
  const { json: before } = await door(session, 'GET')
  await door(session, 'PUT', service.subscribe('phone'))
  {
    using chat = await openChat(hub)
    await chat.subscribe('homelab')
    const told = (words: string) => service.pushes.all.filter(({ message }) => message.text.includes(words))
    const remind = async (words: string) => {
      await chat.say('homelab', `/remind in 3 seconds ${words}`)
      const isIt = (one: { kind: string; text: string; inReplyTo?: unknown }) =>
        one.kind === 'agent' && one.text.includes(words) && !one.inReplyTo
      await chat.next('message', ({ message }) => isIt(message))
    }
    chat.send({ type: 'look', conversation: 'homelab' })
    await remind('water the plants')
    const due = () => readRows(hub.stored, 'select id from notifications where due_at is not null')
    await until('nothing is left to tell', () => due().length === 0)
    chat.send({ type: 'look', conversation: null })
    await remind('call mum')
    await until('it is told', () => told('call mum').length > 0)
    expect(told('call mum')).toMatchObject([{ message: { title: 'homelab' } }])
    expect(told('water the plants')).toEqual([])
  }
  await hub.stop()
  await hub.start()
  expect((await door(session, 'GET')).json).toEqual(before)
  expect((await door(session, 'POST')).status).toBe(204)
  const { push } = await ask()
  const endpoint = `${service.url}/push/phone`
  const log = JSON.stringify(hub.logs.all)
  const texts = [endpoint, ...(push.message.buttons ?? []).map(({ url }) => url.slice(2))]
  expect(texts.filter(text => log.includes(text))).toEqual([])
  const keys = JSON.stringify(
    readRows(hub.stored, "select value_json from hub_state where key = 'push_keys'"),
  )
  const [, privateKey = ''] = /\\"privateKey\\":\\"([\w-]{43})\\"/.exec(keys) ?? []
  expect(privateKey).not.toBe('')
  expect(log).not.toContain(privateKey)
  await door(session, 'DELETE')
})

test('who may not, and what is no subscription, is refused in words', async () => {
  const member = await make(hub, 'hub_create_token', { name: 'anna', role: 'member' })
  const session = await signIn()
  const subscription = service.subscribe('x')
  const cases = [
    [await door(member, 'PUT', subscription), 403, "does not open with anna's token"],
    [await door('sb_wrong', 'GET'), 401, 'does not take this token'],
    [await door(hub.token, 'PUT', subscription), 400, 'sign in on the page first'],
    [await door(session, 'PUT', { ...subscription, endpoint: 'http://push.example' }), 400, 'endpoint'],
    [await door(session, 'PUT', { ...subscription, keys: { p256dh: 'AA', auth: 'AA' } }), 400, '65 bytes'],
    [await door(session, 'PUT', 'x'.repeat(20_000)), 413, 'over 10000 bytes'],
    [await door(session, 'POST'), 404, 'takes no notifications'],
  ] as const
  for (const [{ status, text }, wanted, words] of cases)
    expect([status, text]).toEqual([wanted, expect.stringContaining(words)])
  const foreign = { Authorization: `Bearer ${session}`, Origin: 'https://evil.example' }
  expect((await door(session, 'GET', undefined, hub, { headers: foreign })).status).toBe(403)
})

test('the hub sends to no address in a private network, and says what to set where it tells no browsers', async () => {
  await using other = await startTestHub({ config: JSON.stringify({ servers: { metrics: false } }) })
  const session = await signIn(other)
  expect((await door(session, 'GET', undefined, other)).json).toMatchObject({
    problem: expect.stringContaining('write notify: { channel: page, private: true } into superbloom.yaml'),
  })
  const inside = service.subscribe('inside')
  await door(session, 'PUT', inside, other)
  const tested = await door(session, 'POST', undefined, other)
  expect([tested.status, tested.text]).toEqual([503, expect.stringContaining('is in a private network')])
  expect(service.pushes.all.some(({ browser }) => browser === 'inside')).toBe(false)
})
