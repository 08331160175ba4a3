import { z } from 'zod'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import { createUpstream, type RequestOptions, type Upstream } from '../../kit/upstream/upstream.ts'
import type { Delivered, Earlier, Outgoing, Severity } from '../message.ts'
import { cutCharacters } from '../text/cut.ts'
import { toDiscordMarkdown } from '../text/discord-markdown.ts'
import { defineKind, type Sender } from './channel.ts'
import { httpUrl, secret } from './entry.ts'
import { withRemark } from './remark.ts'

const MAX_CONTENT = 2000
const MAX_TITLE = 200
const MARKS = { info: '', warning: '⚠️ ', critical: '🚨 ' } as const satisfies Record<Severity, string>

/** A message, a channel or a webhook of Discord; only its id is needed. */
const created = z.object({ id: z.string() })
/** Milliseconds; Discord checks a nonce against "the past few minutes". */
const KNOWS_NONCE_FOR = 120_000

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
        return post(upstream, `/channels/${channelId}/messages`, { body, signal }, notes)
      },
      replace: (earlier, message, signal) =>
        edit(upstream, `/channels/${channelId}/messages`, { earlier, message, signal }),
      check: signal => upstream.get(`/channels/${channelId}`, { schema: created, signal }),
    }
  },
})

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
      async send(message, signal) {
        const { body, notes } = await toDiscordBody(message)
        return post(upstream, '', { body, signal, query: { wait: true } }, notes).catch(error => {
          const isGone = error instanceof UpstreamFailure && [401, 404].includes(error.status ?? 0)
          throw isGone ? toGone(error, title, where) : error
        })
      },
      replace: (earlier, message, signal) => edit(upstream, '/messages', { earlier, message, signal }),
      check: signal => upstream.get('', { schema: created, signal }),
    }
  },
})

/**
 * Returns the message as Discord takes it, with the fields of `more`, and notes on what was lost. The message
 * mentions nobody, whatever its text says.
 */
async function toDiscordBody(
  given: Outgoing,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ body: RequestOptions['body']; notes: string[] }> {
  const message = withRemark(given)
  const mark = MARKS[message.severity]
  const title =
    message.title === undefined ? mark : `${mark}**${cutCharacters(message.title, MAX_TITLE).text}**\n`
  const { text, note } = cutCharacters(await toDiscordMarkdown(message.text), MAX_CONTENT - title.length)
  const json = {
    content: `${title}${text}`,
    allowed_mentions: { parse: [] },
    ...more,
    ...(message.picture?.kind === 'url' ? { embeds: [{ image: { url: message.picture.url } }] } : {}),
  }
  const notes = note === undefined ? [] : [note]
  return { body: toBody(message, json), notes }
}

function toBody({ picture }: Outgoing, json: Record<string, unknown>): RequestOptions['body'] {
  if (picture?.kind !== 'bytes') return { json }
  const multipart = new FormData()
  const attachments = [{ id: '0', filename: picture.name }]
  multipart.set('payload_json', JSON.stringify({ ...json, attachments }))
  multipart.set('files[0]', new Blob([picture.bytes], { type: picture.mimeType }), picture.name)
  return { multipart }
}

async function post(
  upstream: Upstream,
  path: string,
  options: RequestOptions,
  notes: readonly string[],
): Promise<Delivered> {
  const { id } = await upstream.send('POST', path, { ...options, schema: created })
  return { upstreamId: id, notes }
}

/** Changes what a message says, without a sound. A message that somebody deleted is no failure. */
async function edit(
  upstream: Upstream,
  path: string,
  { earlier, message, signal }: { earlier: Earlier; message: Outgoing; signal: AbortSignal },
): Promise<Delivered> {
  const { body } = await toDiscordBody(message)
  await upstream.raw('PATCH', `${path}/${earlier.upstreamId}`, { body, accept: [404], signal })
  return { upstreamId: undefined, notes: ['in the place of the earlier message'] }
}

function toGone({ failure, status }: UpstreamFailure, title: string, where: string): UpstreamFailure {
  const fix = `Make a new webhook (Discord: Channel > Edit > Integrations > Webhooks), and set its URL as ${where}.`
  const what = `${title} does not know this webhook any more.`
  return new UpstreamFailure({ ...failure, kind: 'not_found', what, fix, status })
}
