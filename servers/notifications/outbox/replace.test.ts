import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BUTTONS, REPLACES, toButtonKey } from '../../../schemas/message-buttons.ts'
import { DISCORD_TOKEN, startDiscord } from '../../../tests/lab/discord.ts'
import { GOTIFY_CLIENT_TOKEN, GOTIFY_TOKEN, startGotify } from '../../../tests/lab/gotify.ts'
import { until } from '../../../tests/support/until.ts'
import { ok, slow, status } from '../../kit/testing/faulty-upstream.ts'
import { published, startPhone } from '../testing/phone.ts'
import { type NotificationWorld, startNotifications, withChannels } from '../testing/world.ts'

const ASKED = { message: 'May it?', title: 'homelab asks', key: 'apr_1' }
const OVER = { message: 'It is denied by owner.', title: 'homelab asks', key: 'apr_1' }

const ask = (world: NotificationWorld, request = {}) =>
  world.call('send_notification', ASKED, undefined, request)
const replace = async (world: NotificationWorld) => {
  const request = { meta: { [REPLACES]: true } }
  return (await world.call('send_notification', OVER, undefined, request)).text
}
const untilReplaced = (world: NotificationWorld) =>
  until('it is replaced', async () => {
    const { message, status: state } = await world.newest()
    return message === OVER.message && state === 'sent'
  })

/** Starts a phone whose ntfy also removes messages; `removed` are the requests for it. */
async function startRemoving(rules: Record<string, unknown> = {}) {
  const phone = await startPhone(rules)
  const removed = () => phone.upstream.requests.filter(({ method }) => method === 'DELETE')
  /** Answers the request to remove the message that was sent. */
  const allow = () =>
    phone.upstream.route({ [`DELETE /lab/${phone.got()[0]?.sequence_id}`]: ok({ event: 'message_delete' }) })
  return Object.assign(phone, { removed, allow })
}

test('ntfy: the earlier message is removed, once, however often it is told', async () => {
  await using phone = await startRemoving()
  await ask(phone.world)
  phone.allow()
  expect(await replace(phone.world)).toBe('On phone, it takes the place of the earlier message.')
  await replace(phone.world)
  await untilReplaced(phone.world)
  await replace(phone.world)
  expect(phone.removed().map(({ path }) => path)).toEqual([`/lab/${phone.got()[0]?.sequence_id}`])
  expect(phone.got()).toHaveLength(1)
  expect(await phone.world.newest()).toMatchObject({ notes: ['the earlier message was removed'] })
})

test('ntfy before 2.16: the message stays, which the history says', async () => {
  await using phone = await startRemoving()
  await ask(phone.world)
  await replace(phone.world)
  await untilReplaced(phone.world)
  expect(phone.got()).toHaveLength(1)
  expect(await phone.world.newest()).toMatchObject({
    notes: ['the earlier message stays: ntfy removes messages from 2.16 on'],
  })
})

test('an upstream that is away is tried again, also after a restart in the middle of a try', async () => {
  await using phone = await startRemoving()
  await ask(phone.world)
  phone.allow()
  phone.upstream.next(status(503), slow)
  await replace(phone.world)
  await until('it will be tried again', async () => (await phone.world.newest())['status'] === 'retrying')
  const second = phone.upstream.nextRequest()
  await phone.clock.advance(7_000)
  await second
  const restarted = phone.world.restart()
  await phone.clock.advance(10_000)
  await restarted
  await untilReplaced(phone.world)
  expect([phone.got().length, phone.removed().length]).toEqual([1, 3])
})

test('what waits for the end of quiet hours is not sent any more, and the key of its buttons is gone', async () => {
  await using phone = await startRemoving({ quietHours: { from: '10:00', to: '14:00' } })
  const key = toButtonKey('a-key-of-32-random-characters-00')
  const buttons = [{ label: 'Approve', url: `https://hub.example/a/${key}`, body: '{}' }]
  await ask(phone.world, { meta: { [BUTTONS]: buttons } })
  expect(await replace(phone.world)).toBe(
    'On phone, the earlier message had not gone out, and is not sent any more.',
  )
  await phone.clock.advance(3 * 3_600_000)
  await phone.world.restart()
  const { data } = await phone.world.call('get_notification_history')
  expect(data).toMatchObject({ total: 0 })
  expect(phone.upstream.requests).toEqual([])
  const { folder } = phone.world
  const stored = readdirSync(folder).map(file => readFileSync(join(folder, file), 'latin1'))
  expect(stored.join('')).not.toContain(key)
})

test('a message that may have arrived is replaced once that is known', async () => {
  await using phone = await startRemoving()
  phone.upstream.next(status(504))
  await ask(phone.world)
  await replace(phone.world)
  expect(phone.removed()).toEqual([])
  phone.upstream.route({ 'GET /lab/json': ok({ ...published, ...ASKED, id: 'there' }) })
  phone.allow()
  await phone.clock.advance(7_000)
  await untilReplaced(phone.world)
  expect([phone.got().length, phone.removed().length]).toEqual([1, 1])
})

test('one that failed, one of a list, one of another key and one of another channel stay', async () => {
  await using phone = await startRemoving({ limit: { count: 1, per: '10m' } })
  phone.upstream.next(status(401))
  await ask(phone.world)
  expect(await replace(phone.world)).toBe('On phone, nothing is changed.')
  await phone.send({ message: 'first', key: 'other' })
  await phone.send({ message: 'held' })
  await ask(phone.world)
  await phone.clock.advance(600_000)
  await until('the list went out', () => phone.got().length === 3)
  await replace(phone.world)
  const sent = async () => (await phone.world.call('get_notification_history')).data['total']
  await until('nothing waits', async () => (await sent()) === 4)
  expect(phone.removed()).toEqual([])
})

test('it makes no sound, and counts for no limit', async () => {
  await using phone = await startRemoving({ limit: { count: 2, per: '10m' } })
  await ask(phone.world)
  phone.allow()
  await replace(phone.world)
  await untilReplaced(phone.world)
  expect((await phone.send({ message: 'next' })).text).toMatch(/^Sent/)
})

test.each(['hook', 'bot'])('Discord, %s: the message says what became of it', async channel => {
  await using discord = await startDiscord()
  const kinds = {
    hook: { kind: 'discord-webhook', url: discord.webhookUrl },
    bot: { kind: 'discord-bot', token: DISCORD_TOKEN, channelId: '2', apiUrl: discord.apiUrl },
  }
  const entry = kinds[channel as keyof typeof kinds]
  await using world = await startNotifications(withChannels({ [channel]: entry }))
  await ask(world)
  await replace(world)
  await untilReplaced(world)
  expect(discord.messages).toMatchObject([
    { content: '**homelab asks**\nIt is denied by owner.', allowed_mentions: { parse: [] } },
  ])
})

test("Gotify: a client's token removes the message; an application's alone cannot", async () => {
  await using gotify = await startGotify()
  const variables = { GOTIFY_URL: gotify.url, GOTIFY_TOKEN }
  await using world = await startNotifications({ ...variables, GOTIFY_CLIENT_TOKEN })
  await ask(world)
  expect(gotify.messages).toHaveLength(1)
  await replace(world)
  await untilReplaced(world)
  expect(gotify.messages).toEqual([])
  await using other = await startNotifications(variables)
  await ask(other)
  expect(await replace(other)).toBe('On gotify, nothing is changed.')
  expect(gotify.messages).toHaveLength(1)
})
