import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../../tests/support/fake-clock.ts'
import { pushFetch, startPushService } from '../../tests/support/push-service.ts'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { createLog } from '../core/log.ts'
import { endToken } from '../store/tokens.ts'
import { NotTaken } from './notifier.ts'
import { createPageChannel, type PageChannel } from './page-channel.ts'

let store: TempStore
let clock: FakeClock
let service: Awaited<ReturnType<typeof startPushService>>
let channel: PageChannel
let logs: string[]
let settings: { channel: string; publicUrl: string | undefined }

beforeEach(async () => {
  store = await openTempStore()
  clock = createFakeClock()
  service = await startPushService()
  logs = []
  settings = { channel: 'page', publicUrl: 'https://hub.example.org' }
  const log = createLog({ level: 'debug', now: clock.now, write: line => logs.push(line) })
  channel = createPageChannel({ store, clock, log, pushFetch, settings: () => settings })
})
afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

/** Signs somebody in and subscribes the browser of that name. */
async function signIn(name: string, more: { kind?: 'session' | 'token'; role?: 'owner' | 'member' } = {}) {
  const times = {
    created_at: clock.now(),
    expires_at: clock.now() + 1_000,
    last_used_at: null,
    ended_at: null,
  }
  const row = { id: `ses_${name}`, name: 'owner', role: 'owner', kind: 'session', tools_json: null } as const
  await store.write(tx =>
    tx
      .insertInto('tokens')
      .values({ ...row, hash: name, ...times, ...more })
      .execute(),
  )
  return channel.add(row.id, service.subscribe(name))
}

const send = (more: { key?: string; message?: string; buttons?: object[]; isUpdate?: boolean } = {}) => {
  const { buttons = [], isUpdate = false, ...message } = { key: 'apr_1', message: 'Stop it?', ...more }
  const options = { idempotencyKey: '', conversation: 'homelab', signal: new AbortController().signal }
  return channel.send(
    { channel: 'page', title: 'homelab asks', ...message },
    { ...options, isUpdate, buttons: buttons as [] },
  )
}
const sentTo = () => service.pushes.all.map(({ browser }) => browser)
const BUTTON = { label: 'Approve', url: 'a/sba_1', body: '{"decision":"approve"}' }

test('every browser of the owner gets a message that only it can read, from one sender', async () => {
  expect([await signIn('phone'), await signIn('desk')]).toEqual([true, true])
  expect(await send({ buttons: [BUTTON] })).toBe('Sent to 2 browsers.')
  expect(service.refusals).toEqual([])
  expect(sentTo().sort()).toEqual(['desk', 'phone'])
  const [first, second] = service.pushes.all
  expect(first?.message).toEqual({
    tag: 'apr_1',
    title: 'homelab asks',
    text: 'Stop it?',
    conversation: 'homelab',
    buttons: [BUTTON],
  })
  expect(first).toMatchObject({
    subject: 'https://hub.example.org',
    sender: (await channel.state()).publicKey,
    headers: { ttl: '86400', urgency: 'high', topic: expect.stringMatching(/^[\w-]{32}$/) },
  })
  expect(second?.sender).toBe(first?.sender)
})

test('what became of it takes the place of what was asked, without waking anybody', async () => {
  await signIn('phone')
  await send({ buttons: [BUTTON] })
  await send({ message: 'It is denied.', isUpdate: true })
  const [first, second] = service.pushes.all
  expect(second?.message).toMatchObject({ tag: 'apr_1', text: 'It is denied.', isOver: true })
  expect(second?.message).not.toHaveProperty('buttons')
  expect(second?.headers).toMatchObject({ urgency: 'normal', topic: first?.headers['topic'] })
})

test.each([404, 410])(
  'a browser whose push service answers %d is forgotten, and the others are told',
  async status => {
    await signIn('phone')
    await signIn('desk')
    service.answers.push({ status })
    expect(await send()).toBe('Sent to 1 browser.')
    await send({ key: 'apr_2' })
    expect(new Set(sentTo()).size).toBe(1)
    expect(logs.join()).toContain('push_subscription_gone')
    expect(await channel.problems()).toEqual([])
  },
)

test('where one push service is busy, the next try goes to that browser alone, and as late as it wants', async () => {
  await signIn('phone')
  await signIn('desk')
  service.answers.push({ status: 429, body: 'slow\ndown', headers: { 'Retry-After': '120' } })
  const failure = await send().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(NotTaken)
  expect(failure).toMatchObject({
    waitMs: 120_000,
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ did not take it: it answers 429: slow down$/),
  })
  expect(sentTo()).toHaveLength(1)
  await send()
  expect(sentTo().sort()).toEqual(['desk', 'phone'])
})

test('others do not wait for a browser whose push service refuses the message for good', async () => {
  await signIn('phone')
  const refusal = { status: 403, body: '{"reason":"BadJwtToken"}' }
  service.answers.push(refusal)
  await expect(send()).rejects.toThrow('it answers 403: {"reason":"BadJwtToken"}')
  await signIn('desk')
  service.answers.push(refusal)
  expect(await send()).toBe('Sent to 1 browser.')
  expect(sentTo()).toHaveLength(1)
  expect(logs.join()).toContain('push_refused')
})

test('a session that ended or expired, and a person who is not the owner, get nothing', async () => {
  await signIn('gone')
  await store.write(tx => endToken(tx, 'ses_gone', clock.now()))
  await signIn('anna', { role: 'member' })
  await signIn('late')
  clock.advance(2_000)
  await expect(send()).rejects.toThrow('no browser takes notifications: open the page')
  expect(await channel.problems()).toEqual([expect.stringContaining('no browser takes notifications')])
  expect(sentTo()).toEqual([])
  expect(await store.db.selectFrom('push_subscriptions').select('token_id').execute()).not.toContainEqual({
    token_id: 'ses_gone',
  })
})

test('a token that is no session, or ended, subscribes nothing; a browser belongs to its last session', async () => {
  expect(await signIn('program', { kind: 'token' })).toBe(false)
  expect(await channel.add('owner', service.subscribe('x'))).toBe(false)
  await signIn('one')
  await signIn('two')
  const same = service.subscribe('same')
  expect([await channel.add('ses_one', same), await channel.add('ses_two', same)]).toEqual([true, true])
  expect(await send()).toBe('Sent to 1 browser.')
  expect(sentTo()).toEqual(['same'])
})

test('a test message goes to the browser of the session, and says why it does not', async () => {
  await expect(channel.test('ses_phone')).rejects.toThrow('This browser takes no notifications')
  await signIn('phone')
  await signIn('desk')
  await channel.test('ses_phone')
  expect(sentTo()).toEqual(['phone'])
  service.answers.push({ status: 403, body: '{"reason":"BadJwtToken"}' })
  await expect(channel.test('ses_phone')).rejects.toThrow('it answers 403: {"reason":"BadJwtToken"}')
  service.unsubscribe('phone')
  await expect(channel.test('ses_phone')).rejects.toThrow('forgot it: switch off and on again')
})

test('a long message is cut to what every push service takes, in any script, and has no buttons then', async () => {
  await signIn('phone')
  await send({ message: 'x'.repeat(401), buttons: [BUTTON] })
  await send({ key: 'apr_2', message: '💐"\n'.repeat(2_000), buttons: [BUTTON] })
  expect(service.refusals).toEqual([])
  const [long, huge] = service.pushes.all.map(({ message }) => message)
  expect([long?.text.length, long?.buttons]).toEqual([401, undefined])
  expect(huge?.text).toMatch(/^💐"\n💐.*… \(\d+ more characters\)$/s)
  expect(huge?.buttons).toBeUndefined()
})

test.each([
  [undefined, 'https://example.com/'],
  ['http://hub.example.org', 'https://example.com/'],
  ['https://localhost', 'https://example.com/'],
  ['https://192.168.1.20', 'https://example.com/'],
  ['https://nas.local', 'https://example.com/'],
  ['https://hub.home.arpa', 'https://example.com/'],
  ['https://hub.tail1234.ts.net/sub', 'https://hub.tail1234.ts.net'],
])('at %s the sender is %s, which Apple takes', async (publicUrl, subject) => {
  settings = { channel: 'page', publicUrl }
  await signIn('phone')
  await send()
  expect(service.pushes.all.map(push => push.subject)).toEqual([subject])
})
