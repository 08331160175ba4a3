import { z } from 'zod'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import { createUpstream } from '../../kit/upstream/upstream.ts'
import { defineKind, type Sender } from './channel.ts'
import { postToDiscord, toDiscordBody } from './discord-body.ts'
import { httpUrl } from './entry.ts'

const webhook = z.object({ id: z.string() })

/** A Discord webhook. Its address is its key, and Discord does not recognise a repeated message here. */
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
        return postToDiscord(upstream, '', { body, signal, query: { wait: true } }, notes).catch(error => {
          throw isGone(error) ? toGone(error, title, where) : error
        })
      },
      check: async signal => {
        await upstream.get('', { schema: webhook, signal })
        return undefined
      },
    }
  },
})

function isGone(error: unknown): error is UpstreamFailure {
  return error instanceof UpstreamFailure && (error.status === 404 || error.status === 401)
}

function toGone({ failure, status }: UpstreamFailure, title: string, where: string): UpstreamFailure {
  const fix = `Make a new webhook (Discord: Channel > Edit > Integrations > Webhooks), and set its URL as ${where}.`
  const what = `${title} does not know this webhook any more.`
  return new UpstreamFailure({ ...failure, kind: 'not_found', what, fix, status })
}
