import { expect, test } from 'vitest'
import { startApprise } from '../../../tests/lab/apprise.ts'
import { until } from '../../../tests/support/until.ts'
import { type FaultyUpstream, ok, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { NOON, startNotifications, withChannels } from '../testing/world.ts'

const ntfy = (upstream: FaultyUpstream, topic: string) => ({
  kind: 'ntfy',
  url: `${upstream.url}/${topic}`,
  token: 't0ken',
})

/** Starts two phones on one ntfy, and a mail gateway; critical goes to all. */
async function start() {
  const upstream = await startFaultyUpstream({ 'POST /': ok({ id: 'm1', time: 1 }) })
  const apprise = await startApprise()
  const channels = {
    phone: { ...ntfy(upstream, 'a'), quietHours: { from: '22:00', to: '6:30', timezone: 'Europe/Berlin' } },
    tablet: ntfy(upstream, 'b'),
    family: { kind: 'apprise', url: apprise.url, key: 'homelab' },
  }
  const routing = { info: 'tablet', critical: ['phone', 'family'] }
  const world = await startNotifications(withChannels(channels, routing))
  return {
    upstream,
    apprise,
    world,
    topics: () => upstream.requests.map(({ body }) => (JSON.parse(body) as { topic: string }).topic),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
      await apprise[Symbol.asyncDispose]()
    },
  }
}

test('without a channel the severity decides', async () => {
  await using lab = await start()
  const send = (severity: string) => lab.world.call('send_notification', { message: severity, severity })
  expect((await send('info')).text).toBe('Sent on tablet (ntfy).')
  expect((await send('warning')).text).toBe('Sent on tablet (ntfy).')
  expect((await send('critical')).text).toBe('Sent on phone (ntfy).\nSent on family (Apprise API).')
  expect(lab.topics()).toEqual(['b', 'b', 'a'])
  expect(lab.apprise.messages).toHaveLength(1)
})

test('what failed on one channel and arrived on another is said of each; failed on all, also on the next, it is a failure', async () => {
  await using lab = await start()
  lab.upstream.will(status(401))
  const partial = await lab.world.call('send_notification', { message: 'one', severity: 'critical' })
  expect(partial.isError).toBe(false)
  expect(partial.untrusted).toBe(true)
  expect(partial.text).toMatch(/^Not sent on phone \(ntfy\): ".*did not accept the key.*\nSent on family/)
  lab.apprise.answerOnce(424)
  const failed = await lab.world.call('send_notification', { message: 'two', severity: 'critical' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toContain('not sent on any of 3 channels')
})

test('a channel is found in any case and by its kind; another is refused with those there are', async () => {
  await using lab = await start()
  const send = (channel: string) => lab.world.call('send_notification', { message: channel, channel })
  expect((await send('Phone')).text).toContain('Sent on phone')
  expect((await send('#tablet')).text).toContain('Sent on tablet')
  expect((await send('apprise')).text).toContain('Sent on family')
  const refused = await send('pager')
  expect(refused.text).toContain('There is no channel called "pager".')
  expect(refused.text).toContain('there is phone, tablet, family')
  expect((await send('ntfy')).isError).toBe(true)
})

test.each([
  ['nothing to say', { message: ' ' }],
  ['only what cannot be seen', { message: '\u0000\u001b' }],
  ['a mistyped argument', { message: 'x', chanel: 'phone' }],
  ['no severity', { message: 'x', severity: 'huge' }],
  ['a picture that is none', { message: 'x', image: 'a cat' }],
])('%s is refused, and nothing is kept', async (_what, args) => {
  await using lab = await start()
  expect((await lab.world.call('send_notification', args)).isError).toBe(true)
  expect((await lab.world.call('get_notification_history')).data).toMatchObject({ total: 0 })
})

test('control characters are taken out, and a title is one line', async () => {
  await using lab = await start()
  await lab.world.call('send_notification', { message: 'a\u0000b\u001b[31m\nc', title: 'T\r\nBcc: x' })
  expect(JSON.parse(lab.upstream.requests[0]?.body ?? '')).toMatchObject({
    message: 'ab[31m\nc',
    title: 'T Bcc: x',
  })
})

test('a model sees the channels in the schema', async () => {
  await using lab = await start()
  const [send] = lab.world.world.listed()
  expect(send?.inputSchema.properties?.['channel']).toMatchObject({
    enum: ['phone', 'tablet', 'family'],
    description: 'phone (ntfy), tablet (ntfy), family (Apprise API); default: by severity',
  })
})

test('the channels are listed with what they get, when they are quiet, and what is wrong', async () => {
  await using lab = await start()
  const before = await lab.world.call('list_notification_channels')
  expect(before.text.split('\n')[0]).toBe(`phone: ntfy at ${lab.upstream.url}; gets critical by default.`)
  expect(before.untrusted).toBe(false)
  lab.upstream.next(status(401, 'no <b>way'))
  await lab.world.call('send_notification', { message: 'one' })
  const { text, data } = await lab.world.call('list_notification_channels')
  expect(text).toMatch(
    /tablet: ntfy at .*; gets info, warning by default; PROBLEM: ".*did not accept the key/,
  )
  expect(text).not.toContain('t0ken')
  expect(data['channels']).toMatchObject([
    {
      name: 'phone',
      quietHours: 'from 22:00 to 06:30 (Europe/Berlin), critical passes',
      limit: '30 messages in 10 min',
    },
    { name: 'tablet', waiting: 0, dedupeSeconds: 300, problem: expect.stringContaining('no <b>way') },
    { name: 'family', severities: ['critical'] },
  ])
  await lab.world.call('send_notification', { message: 'two' })
  expect((await lab.world.call('list_notification_channels')).text).not.toContain('PROBLEM')
})

test('the history is filtered and cut, the newest first', async () => {
  await using lab = await start()
  for (let sent = 1; sent <= 5; sent++) {
    await lab.world.call('send_notification', { message: `number ${sent}`, title: 'Count' })
    await lab.world.clock.advance(60_000)
  }
  lab.upstream.next(status(503))
  await lab.world.call('send_notification', { message: 'late', channel: 'phone', severity: 'warning' })
  const history = (args: Record<string, unknown>) => lab.world.call('get_notification_history', args)
  const firstTwo = await history({ channel: 'TABLET', limit: 2 })
  expect(firstTwo.text.split('\n').slice(0, 3)).toEqual([
    '22 Nov 2026 12:04 UTC, "Count": "number 5". Sent on tablet (ntfy).',
    '22 Nov 2026 12:03 UTC, "Count": "number 4". Sent on tablet (ntfy).',
    '2 of 5 notifications; call again with offset 2 for more.',
  ])
  expect((await history({ status: 'waiting' })).text).toMatch(
    /12:05 UTC, warning, "late"\. Accepted for phone/,
  )
  expect((await history({ status: 'sent', since: '2026-11-22T13:03:00+01:00' })).data).toMatchObject({
    total: 2,
  })
  expect((await history({ channel: 'nowhere' })).text).toBe('No notification was sent that fits.')
  expect((await history({ since: 'yesterday' })).isError).toBe(true)
  expect((await history({ limit: 1 })).untrusted).toBe(true)
})

test('a flood of others does not hold what is critical', async () => {
  await using upstream = await startFaultyUpstream({ 'POST /': ok({ id: 'm1', time: 1 }) })
  await using world = await startNotifications(
    withChannels({ phone: { ...ntfy(upstream, 'a'), limit: { count: 1, per: '10m' } } }),
  )
  const send = (message: string, severity: string) => world.call('send_notification', { message, severity })
  await send('one', 'info')
  expect((await send('two', 'info')).text).toContain('held')
  expect((await send('fire', 'critical')).text).toBe('Sent on phone (ntfy).')
  expect((await send('fire again', 'critical')).text).toContain('held')
})

test('a service that asks to wait is left alone for as long', async () => {
  await using lab = await start()
  lab.upstream.next(status(429, 'slow down', { 'retry-after': '90' }))
  await lab.world.call('send_notification', { message: 'one', channel: 'tablet' })
  expect(await lab.world.newest()).toMatchObject({ status: 'retrying', until: NOON + 90_000 })
  await lab.world.clock.advance(89_999)
  expect(lab.upstream.requests).toHaveLength(1)
  await lab.world.clock.advance(1)
  await until('it is sent', async () => (await lab.world.newest())['status'] === 'sent')
})

test('a message that a text from outside led to says so', async () => {
  await using lab = await start()
  const signal = new AbortController().signal
  const given = { message: 'Pay here', channel: 'tablet' }
  await lab.world.call('send_notification', given, signal, { isForeign: true })
  const { message } = JSON.parse(lab.upstream.requests[0]?.body ?? '{}') as { message: string }
  expect(message).toMatch(/^\(A text from outside led to this message: .+\)\n\nPay here$/)
})
