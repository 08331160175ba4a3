import { afterAll, beforeAll, expect, test } from 'vitest'
import { PIXEL, startNotifications, withChannels } from '../../servers/notifications/testing/world.ts'
import { until } from '../support/until.ts'
import { type RealNtfy, startRealNtfy } from './setup/ntfy.ts'

/* The real ntfy 2.11 of Debian trixie. */

interface Kept {
  id: string
  event: string
  message: string
  title?: string
  priority?: number
  tags?: string[]
  content_type?: string
  attachment?: { name: string; type?: string; size?: number; url: string }
}

let ntfy: RealNtfy
beforeAll(async () => {
  ntfy = await startRealNtfy()
}, 180_000)
afterAll(() => ntfy?.[Symbol.asyncDispose]())

async function kept(topic: string): Promise<Kept[]> {
  const headers = { authorization: `Bearer ${ntfy.tokens.admin}` }
  const answer = await fetch(`${ntfy.url}/${topic}/json?poll=1&since=all`, { headers })
  const lines = (await answer.text()).split('\n').filter(line => line !== '')
  return lines.map(line => JSON.parse(line) as Kept).filter(({ event }) => event === 'message')
}

const phone = (topic: string, more: Record<string, unknown> = { token: ntfy.tokens.admin }) =>
  withChannels({ phone: { kind: 'ntfy', url: `${ntfy.url}/${topic}`, ...more } })

test('a message arrives as it was meant, with priority, tags, title and Markdown', async () => {
  await using world = await startNotifications(phone('words'))
  const args = { message: 'the **disk** is full: ä😀\nsecond', title: 'Dïsk', severity: 'critical' }
  const sent = await world.call('send_notification', args)
  expect(sent.text).toBe('Sent on phone (ntfy).')
  const [message] = await kept('words')
  expect(message).toMatchObject({
    message: args.message,
    title: args.title,
    priority: 5,
    tags: ['rotating_light'],
    content_type: 'text/markdown',
  })
  expect(await world.newest()).toMatchObject({ status: 'sent', upstreamId: message?.id })
  expect(await world.world.health()).toMatchObject({ ok: true })
})

test('what is too long is cut and stays a message', async () => {
  await using world = await startNotifications(phone('long'))
  await world.call('send_notification', { message: 'ä'.repeat(6000) })
  const [message] = await kept('long')
  expect(message?.attachment).toBeUndefined()
  expect(message?.message).toMatch(/ä\n… \([\d,]+ more characters were cut\)$/)
})

test('a picture is attached, with words that headers cannot hold', async () => {
  await using world = await startNotifications(phone('pictures'))
  const args = { message: 'the door: ä😀\nnow', title: 'Tür', severity: 'warning', image: PIXEL }
  expect((await world.call('send_notification', args)).text).toMatch(/^Sent/)
  const [message] = await kept('pictures')
  expect(message).toMatchObject({
    message: args.message,
    title: args.title,
    priority: 4,
    attachment: { name: 'image.png', type: 'image/png' },
  })
  const headers = { authorization: `Bearer ${ntfy.tokens.admin}` }
  const file = await fetch(message?.attachment?.url ?? '', { headers })
  expect(Buffer.from(await file.arrayBuffer()).toString('base64')).toBe(PIXEL)
})

test.each([
  ['no login', {}, 403],
  ['a wrong token', { token: 'tk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }, 401],
  ['a wrong password', { user: 'lab', password: 'wrong' }, 401],
])('%s: fails at once, and says what to do', async (_what, login, status) => {
  await using world = await startNotifications(phone('private', login))
  const failed = await world.call('send_notification', { message: 'hi' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toContain(`it answered ${status}`)
  expect(failed.text).toContain('Check the token or password of phone of NOTIFICATIONS_CHANNELS')
  expect(await kept('private')).toEqual([])
})

test('a user and a password do, and a user who may only write', async () => {
  await using world = await startNotifications(phone('words', { user: 'lab', password: 'labpw' }))
  expect((await world.call('send_notification', { message: 'by password' })).text).toMatch(/^Sent/)
  await using writing = await startNotifications(phone('lab', { token: ntfy.tokens.writer }))
  expect((await writing.call('send_notification', { message: 'by writer' })).text).toMatch(/^Sent/)
})

test('a message that arrived although nobody heard so is found, and not sent twice', async () => {
  await using world = await startNotifications(phone('once'), Date.now())
  await world.call('send_notification', { message: 'once' })
  await world.call('send_notification', { message: 'other' })
  const { default: Sqlite } = await import('better-sqlite3')
  await world.restart(undefined, () => {
    const database = new Sqlite(`${world.folder}/n.db`)
    // A kill between the answer and its commit leaves this state.
    database
      .prepare("update messages set status = 'sending', due = ?, upstream_id = null where text = 'once'")
      .run(world.clock.now() + 60_000)
    database.close()
  })
  await until('its timer is set', () => world.clock.pending === 1)
  await world.clock.advance(60_000)
  await until('it is known as sent', async () => {
    const { data } = await world.call('get_notification_history', { status: 'sent' })
    return data['total'] === 2
  })
  expect((await kept('once')).map(({ message }) => message)).toEqual(['once', 'other'])
})
