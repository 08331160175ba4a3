import { z } from 'zod'
import { createUpstream } from '../../kit/upstream/upstream.ts'
import { defineKind, type Sender } from './channel.ts'
import { postToDiscord, toDiscordBody } from './discord-body.ts'
import { httpUrl } from './entry.ts'

const webhook = z.object({ id: z.string() })

/** A Discord webhook: its address is its key. Discord does not recognise a repeated message here. */
export const discordWebhook = defineKind({
  kind: 'discord-webhook',
  title: 'Discord (webhook)',
  schema: z.strictObject({
    url: httpUrl.refine(
      url => /\/webhooks\/\d+\/[\w-]+$/.test(url),
      'must look like https://discord.com/api/webhooks/…/…',
    ),
  }),
  open({ url }, { clock, title, where }): Sender {
    const token = url.slice(url.lastIndexOf('/') + 1)
    const upstream = createUpstream({
      name: 'discord',
      title,
      url,
      clock,
      secrets: [token],
      settings: {
        url: where,
        key: where,
        where: 'Discord: Channel > Edit > Integrations > Webhooks > Copy URL',
      },
    })
    return {
      address: upstream.address,
      knowsRepeatsFor: 0,
      async send(message, signal) {
        const { body, notes } = await toDiscordBody(message)
        return postToDiscord(upstream, '', { body, signal, query: { wait: true } }, notes)
      },
      check: async signal => {
        await upstream.get('', { schema: webhook, signal })
        return undefined
      },
    }
  },
})
