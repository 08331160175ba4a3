import { z } from 'zod'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { RawAnswer, RequestOptions, Upstream } from '../../kit/upstream/upstream.ts'
import type { Delivered, Outgoing, Severity } from '../message.ts'
import { cutCharacters } from '../text/cut.ts'
import { toDiscordMarkdown } from '../text/discord-markdown.ts'
import { withRemark } from './remark.ts'

const MAX_CONTENT = 2000
const MAX_TITLE = 200
const MARKS = { info: '', warning: '⚠️ ', critical: '🚨 ' } as const satisfies Record<Severity, string>

/** Discord's created message; only its id is needed. */
const created = z.object({ id: z.string() })
const limited = z.object({ retry_after: z.number(), global: z.boolean().default(false) })

/**
 * Returns the message as Discord takes it, with the fields of `more`, and notes on what was lost. The message
 * mentions nobody, whatever its text says.
 */
export async function toDiscordBody(
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

/** Posts a message. When Discord is rate limiting, the failure has the exact `retry_after` of the body. */
export async function postToDiscord(
  upstream: Upstream,
  path: string,
  options: RequestOptions,
  notes: readonly string[],
): Promise<Delivered> {
  const answer = await upstream.raw('POST', path, { ...options, accept: [429] })
  if (answer.status === 429) throw toLimited(upstream, path, answer)
  const message = created.safeParse(parseJson(answer))
  if (!message.success) throw toStranger(upstream, path, answer.status)
  return { upstreamId: message.data.id, notes }
}

function toLimited(upstream: Upstream, path: string, answer: RawAnswer): UpstreamFailure {
  const parsed = limited.safeParse(parseJson(answer))
  const header = Number(answer.headers.get('retry-after') ?? Number.NaN)
  const seconds = parsed.success ? parsed.data.retry_after : Number.isFinite(header) ? header : undefined
  const wait = seconds === undefined ? 'a while' : `${Math.max(1, Math.ceil(seconds))} s`
  return new UpstreamFailure({
    kind: 'rate_limited',
    what: `${upstream.title} gets too many requests.`,
    where: `POST ${upstream.address}${path}`,
    why: `it answered 429 and asks to wait ${wait}`,
    fix: `Wait ${wait}; it is tried again by itself.`,
    status: 429,
    transient: true,
    retryAfter: seconds === undefined ? undefined : Math.ceil(seconds * 1000),
  })
}

function parseJson(answer: RawAnswer): unknown {
  try {
    return JSON.parse(answer.text())
  } catch {
    return undefined // a body that is not JSON holds no created message
  }
}

function toStranger(upstream: Upstream, path: string, status: number): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'unexpected',
    what: `${upstream.title} did not answer as Discord does.`,
    where: `POST ${upstream.address}${path}`,
    why: `it answered ${status} without the message that it made`,
    fix: 'Check that the address is that of Discord itself, and not of a login page or a proxy before it.',
    status,
  })
}
