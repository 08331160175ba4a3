import { z } from 'zod'
import { createUpstream } from '../../kit/upstream/upstream.ts'
import { defineKind, type Sender } from './channel.ts'
import { postToDiscord, toDiscordBody } from './discord-body.ts'
import { httpUrl, secret } from './entry.ts'

/** Milliseconds; Discord checks a nonce against "the past few minutes". */
const KNOWS_NONCE_FOR = 120_000
const channel = z.object({ id: z.string() })

/** A Discord bot that posts to one channel. Its nonce lets Discord recognise a repeated message. */
export const discordBot = defineKind({
  kind: 'discord-bot',
  title: 'Discord (bot)',
  schema: z.strictObject({
    token: secret,
    channelId: z.string().regex(/^\d{1,20}$/, "must be the channel's id, digits in quotation marks"),
    apiUrl: httpUrl.default('https://discord.com/api/v10'),
  }),
  open({ token, channelId, apiUrl }, { clock, title, where }): Sender {
    const upstream = createUpstream({
      name: 'discord',
      title,
      url: apiUrl,
      clock,
      headers: { authorization: `Bot ${token}` },
      settings: {
        url: where,
        key: `the bot's token and channelId of ${where}, and that the bot may write there`,
        where: 'Discord developer portal: Bot > Token',
      },
    })
    return {
      address: upstream.address,
      knowsRepeatsFor: KNOWS_NONCE_FOR,
      async send(message, signal) {
        const { body, notes } = await toDiscordBody(message, { nonce: message.id, enforce_nonce: true })
        return postToDiscord(upstream, `/channels/${channelId}/messages`, { body, signal }, notes)
      },
      check: async signal => {
        await upstream.get(`/channels/${channelId}`, { schema: channel, signal })
        return undefined
      },
    }
  },
})
