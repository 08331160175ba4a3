import { expect, test } from 'vitest'
import { REPLACES } from '../../schemas/message-buttons.ts'
import { PIXEL, startNotifications, withChannels } from '../../servers/notifications/testing/world.ts'
import { DISCORD_TOKEN, startDiscord } from '../lab/discord.ts'
import { openContract } from '../support/openapi.ts'
import { until } from '../support/until.ts'

/*
 * Checks the requests of notification channels to Discord, and our reading of its answers, against its official description. No real
 * Discord takes part.
 */

const MESSAGES = [
  { message: 'plain' },
  { message: '# A **title**\n\n| a | b |\n|---|---|\n| 1 | 2 |', title: 'Disk', severity: 'critical' },
  { message: 'x'.repeat(5000), severity: 'warning' },
  { message: 'with a picture', image: PIXEL },
  { message: 'with an address', image: 'https://example.org/a.png' },
]

test.each(['hook', 'bot'])(
  '%s: messages, what takes their place, pictures, checks, refusals and limits fit the description',
  async channel => {
    await using discord = await startDiscord(openContract('discord.json', '/api/v10'))
    await using world = await startNotifications(
      withChannels({
        hook: { kind: 'discord-webhook', url: discord.webhookUrl },
        bot: { kind: 'discord-bot', token: DISCORD_TOKEN, channelId: '2', apiUrl: discord.apiUrl },
        deleted: { kind: 'discord-webhook', url: `${discord.webhookUrl}x` },
        wrong: { kind: 'discord-bot', token: 'wrong', channelId: '2', apiUrl: discord.apiUrl },
      }),
    )
    for (const args of MESSAGES) {
      const sent = await world.call('send_notification', { ...args, channel })
      expect(sent.text).toMatch(/^Sent on /)
    }
    const about = { message: 'asked', key: 'x', channel }
    await world.call('send_notification', about)
    const over = { ...about, message: '**over**' }
    await world.call('send_notification', over, undefined, { meta: { [REPLACES]: true } })
    await until('it is replaced', async () => (await world.newest())['status'] === 'sent')
    expect(discord.messages.at(-1)?.content).toBe('**over**')
    discord.limitOnce(0.4)
    expect((await world.call('send_notification', { message: 'limited', channel })).data).toMatchObject({
      deliveries: [{ status: 'retrying' }],
    })
    const refused = channel === 'hook' ? 'deleted' : 'wrong'
    expect((await world.call('send_notification', { message: 'no', channel: refused })).isError).toBe(true)
    await world.world.health()
    expect(discord.messages.map(({ content }) => content.length <= 2000)).toEqual(
      [...MESSAGES, about].map(() => true),
    )
    expect(discord.violations).toEqual([])
  },
)
