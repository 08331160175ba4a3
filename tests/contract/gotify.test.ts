import { expect, test } from 'vitest'
import { REPLACES } from '../../schemas/message-buttons.ts'
import { PIXEL, startNotifications, withChannels } from '../../servers/notifications/testing/world.ts'
import { GOTIFY_CLIENT_TOKEN, GOTIFY_TOKEN, startGotify } from '../lab/gotify.ts'
import { openContract } from '../support/openapi.ts'
import { until } from '../support/until.ts'

/*
 * Checks our requests to Gotify, and our reading of its answers, against its official description. No real
 * Gotify takes part.
 */

test('messages, their removal, checks and refusals fit the description', async () => {
  await using gotify = await startGotify(openContract('gotify.json'))
  await using world = await startNotifications(
    withChannels({
      gotify: {
        kind: 'gotify',
        url: gotify.url,
        token: GOTIFY_TOKEN,
        clientToken: GOTIFY_CLIENT_TOKEN,
      },
      wrong: { kind: 'gotify', url: gotify.url, token: 'wrong' },
    }),
  )
  const messages = [
    { message: 'plain' },
    { message: '**bold**', title: 'Disk', severity: 'critical' },
    { message: 'with an address', image: 'https://example.org/a.png' },
    { message: 'with a picture', image: PIXEL },
  ]
  for (const args of messages) {
    const sent = await world.call('send_notification', { ...args, channel: 'gotify' })
    expect(sent.text).toMatch(/^Sent on gotify/)
  }
  expect((await world.call('send_notification', { message: 'no', channel: 'wrong' })).isError).toBe(true)
  expect(await world.world.health()).toMatchObject({
    ok: true,
    upstreams: [{ version: '2.6.3' }, { ok: true }],
  })
  expect(gotify.messages).toHaveLength(4)
  const about = { message: 'over', key: 'x', channel: 'gotify' }
  await world.call('send_notification', about)
  await world.call('send_notification', about, undefined, { meta: { [REPLACES]: true } })
  await until('it is removed', async () => (await world.newest())['status'] === 'sent')
  expect(gotify.messages).toHaveLength(4)
  expect(gotify.violations).toEqual([])
})
