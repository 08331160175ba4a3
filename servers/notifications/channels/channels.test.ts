import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { startApprise } from '../../../tests/lab/apprise.ts'
import { DISCORD_TOKEN, startDiscord } from '../../../tests/lab/discord.ts'
import { GOTIFY_TOKEN, startGotify } from '../../../tests/lab/gotify.ts'
import { until } from '../../../tests/support/until.ts'
import { ok, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { PIXEL, startNotifications, withChannels } from '../testing/world.ts'

const ADDRESS = 'https://example.org/a.png'

test('Discord, webhook: its own Markdown, nobody mentioned, a picture as a file or by its address', async () => {
  await using discord = await startDiscord()
  await using world = await startNotifications({ DISCORD_WEBHOOK_URL: discord.webhookUrl })
  await world.call('send_notification', {
    message: '@everyone **look**\n\n#### deep\n\n| a | b |\n|---|---|\n| 1 | 22 |',
    title: 'Disk',
    severity: 'warning',
  })
  expect(discord.messages[0]).toMatchObject({
    content: '⚠️ **Disk**\n@everyone **look**\n\n**deep**\n\n```\na  b\n1  22\n```',
    allowed_mentions: { parse: [] },
  })
  await world.call('send_notification', { message: 'file', image: PIXEL })
  await world.call('send_notification', { message: 'link', image: ADDRESS })
  expect(discord.messages.slice(1)).toMatchObject([
    { content: 'file', attachments: [{ filename: 'image.png' }] },
    { content: 'link', embeds: [{ image: { url: ADDRESS } }] },
  ])
})

test('Discord: what is too long is cut, with a note', async () => {
  await using discord = await startDiscord()
  await using world = await startNotifications({ DISCORD_WEBHOOK_URL: discord.webhookUrl })
  const sent = await world.call('send_notification', { message: `\`\`\`\n${'x'.repeat(5000)}\n\`\`\`` })
  expect(sent.text).toBe('Sent on discord (Discord (webhook)). Note: cut, 3,047 characters are missing.')
  const { content } = discord.messages[0] ?? { content: '' }
  expect(content.length).toBeLessThanOrEqual(2000)
  expect(content).toMatch(/x\n```\n… \(3,047 more characters were cut\)$/)
})

test('Discord, bot: a limit is waited for as exactly as asked, and holds what comes after', async () => {
  await using discord = await startDiscord()
  await using world = await startNotifications({
    ...withChannels({
      bot: { kind: 'discord-bot', token: DISCORD_TOKEN, channelId: '2', apiUrl: discord.apiUrl },
    }),
  })
  discord.limitOnce(61.5)
  await world.call('send_notification', { message: 'one' })
  expect(await world.newest()).toMatchObject({ status: 'retrying', until: world.clock.now() + 62_000 })
  const two = await world.call('send_notification', { message: 'two' })
  expect(two.text).toContain('the service asked to wait')
  expect(discord.messages).toEqual([])
  await world.clock.advance(62_000)
  await until('both are sent', () => discord.messages.length === 2)
  expect(discord.messages.map(({ content }) => content.split('\n')[0])).toEqual(['one', 'two'])
})

test('Discord, bot: the nonce makes one of two tries', async () => {
  await using discord = await startDiscord()
  await using gateway = await startFaultyUpstream({
    'POST /channels/2/messages': async ({ body, headers }) => {
      const target = `${discord.apiUrl}/channels/2/messages`
      const { authorization = '', 'content-type': type = '' } = headers
      const answer = await fetch(target, {
        method: 'POST',
        body,
        headers: { authorization, 'content-type': type },
      })
      return gateway.requests.length === 1 ? status(504, 'late') : ok(await answer.json())
    },
  })
  const entry = { kind: 'discord-bot', token: DISCORD_TOKEN, channelId: '2', apiUrl: gateway.url }
  await using world = await startNotifications(withChannels({ bot: entry }))
  expect((await world.call('send_notification', { message: 'once' })).text).toContain('504')
  await world.clock.advance(10_000)
  await until('it is sent', async () => (await world.newest())['status'] === 'sent')
  expect(gateway.requests).toHaveLength(2)
  expect(discord.messages.map(({ content }) => content)).toEqual(['once'])
})

test('Gotify: Markdown by its extras, priorities, a picture by its address only', async () => {
  await using gotify = await startGotify()
  await using world = await startNotifications({ GOTIFY_URL: gotify.url, GOTIFY_TOKEN })
  await world.call('send_notification', {
    message: '**full**',
    title: 'Disk',
    severity: 'critical',
    image: ADDRESS,
  })
  expect(gotify.messages[0]).toMatchObject({
    title: 'Disk',
    message: `**full**\n\n![](${ADDRESS})`,
    priority: 9,
    extras: {
      'client::display': { contentType: 'text/markdown' },
      'client::notification': { bigImageUrl: ADDRESS },
    },
  })
  const lost = await world.call('send_notification', { message: 'x', image: PIXEL })
  expect(lost.text).toContain('Note: without the image: Gotify takes only addresses.')
})

test('Apprise: types, a picture as a file, and a partial failure that is not repeated', async () => {
  await using apprise = await startApprise()
  await using world = await startNotifications({
    APPRISE_URL: apprise.url,
    APPRISE_KEY: 'homelab',
    APPRISE_TAG: 'me',
  })
  await world.call('send_notification', { message: 'hot', title: 'CPU', severity: 'critical' })
  await world.call('send_notification', { message: 'pic', image: PIXEL })
  expect(apprise.messages).toMatchObject([
    { body: 'hot', title: 'CPU', type: 'failure', format: 'markdown', tag: 'me' },
    { body: 'pic', type: 'info', attach: 'image.png' },
  ])
  apprise.answerOnce(424)
  const partial = await world.call('send_notification', { message: 'three' })
  expect(partial.isError).toBe(true)
  expect(partial.text).toContain('others may have got it')
  await using wrong = await startNotifications({ APPRISE_URL: apprise.url, APPRISE_KEY: 'nothing' })
  expect((await wrong.call('send_notification', { message: 'x' })).text).toContain('has nothing to send to')
  await using stateless = await startNotifications({ APPRISE_URL: apprise.url, APPRISE_URLS: 'json://host' })
  expect((await stateless.call('send_notification', { message: 'x' })).text).toMatch(/^Sent/)
  expect(apprise.messages.at(-1)).toMatchObject({ urls: 'json://host' })
})

test('webhook: JSON, signed, with the same Idempotency-Key at every try', async () => {
  await using upstream = await startFaultyUpstream({ 'POST /in': ok({}) })
  await using world = await startNotifications({
    NOTIFICATIONS_WEBHOOK_URL: `${upstream.url}/in?a=b`,
    NOTIFICATIONS_WEBHOOK_SECRET: 'a-key',
  })
  upstream.next(status(504, 'late'))
  await world.call('send_notification', { message: '**hi**', title: 'T' })
  await world.clock.advance(10_000)
  await until('it is sent', () => upstream.requests.length === 2)
  const [one, two] = upstream.requests
  expect(JSON.parse(one?.body ?? '')).toMatchObject({
    title: 'T',
    message: 'hi',
    markdown: '**hi**',
    severity: 'info',
    mayBeRepeated: false,
  })
  expect(JSON.parse(two?.body ?? '')).toMatchObject({ mayBeRepeated: true })
  expect(one?.query.get('a')).toBe('b')
  expect(two?.headers['idempotency-key']).toBe(one?.headers['idempotency-key'])
  const signature = `sha256=${createHmac('sha256', 'a-key')
    .update(one?.body ?? '')
    .digest('hex')}`
  expect(one?.headers['x-hub-signature-256']).toBe(signature)
})

test('webhook: a template that no text breaks out of, and plain text', async () => {
  await using upstream = await startFaultyUpstream({ 'POST /json': ok({}), 'PUT /plain': ok({}) })
  const template = { text: '{{title}}: {{ message }} {{nothing}}', list: ['{{severity}}', 5] }
  await using world = await startNotifications(
    withChannels({
      json: { kind: 'webhook', url: `${upstream.url}/json`, template },
      plain: { kind: 'webhook', url: `${upstream.url}/plain`, method: 'PUT', format: 'plain' },
    }),
  )
  const args = { message: 'a "quoted" {{severity}} \\ line', title: 'T' }
  await world.call('send_notification', { ...args, channel: 'json' })
  await world.call('send_notification', { ...args, channel: 'plain' })
  expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({
    text: 'T: a "quoted" {{severity}} \\ line {{nothing}}',
    list: ['info', 5],
  })
  expect(upstream.requests[1]?.body).toBe('T\na "quoted" {{severity}} \\ line')
})

test('ntfy: a picture is attached, also by its address', async () => {
  const published = { id: 'a', time: 1 }
  await using upstream = await startFaultyUpstream({ 'POST /': ok(published), 'PUT /lab': ok(published) })
  await using world = await startNotifications({
    NTFY_URL: `${upstream.url}/lab`,
    NTFY_USER: 'u',
    NTFY_PASSWORD: 'p',
  })
  await world.call('send_notification', {
    message: 'äöü\nzwei',
    title: 'ß',
    image: PIXEL,
    severity: 'warning',
  })
  await world.call('send_notification', { message: 'b', image: ADDRESS })
  const [file, link] = upstream.requests
  expect(file?.headers).toMatchObject({
    authorization: `Basic ${btoa('u:p')}`,
    'x-message': `=?UTF-8?B?${Buffer.from('äöü\\nzwei').toString('base64')}?=`,
    'x-filename': 'image.png',
    'x-priority': '4',
    'content-type': 'image/png',
  })
  expect(JSON.parse(link?.body ?? '')).toMatchObject({ attach: ADDRESS, message: 'b' })
})
