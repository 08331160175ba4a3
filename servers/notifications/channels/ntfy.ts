import { z } from 'zod'
import { createUpstream, type Upstream } from '../../kit/upstream/upstream.ts'
import type { Delivered, Earlier, Outgoing, Severity } from '../message.ts'
import { cutBytes } from '../text/cut.ts'
import { toPlain } from '../text/markdown.ts'
import { defineKind, type Sender } from './channel.ts'
import { ESCAPE, httpUrl, isEscaped, secret } from './entry.ts'
import { withRemark } from './remark.ts'

/** Bytes; ntfy turns a longer message into a file. */
const MAX_MESSAGE = 4096
const MAX_TITLE = 250
/** Seconds by which ntfy's clock may differ from ours. */
const CLOCK_SLACK_S = 60
const PRIORITIES = { info: 3, warning: 4, critical: 5 } as const satisfies Record<Severity, number>
const TAGS = { info: [], warning: ['warning'], critical: ['rotating_light'] } as const satisfies Record<
  Severity,
  readonly string[]
>

const published = z.object({
  id: z.string(),
  time: z.number(),
  message: z.string().default(''),
  title: z.string().default(''),
})

/** ntfy: publishes to a topic as JSON, and sends a picture as an attachment. */
export const ntfy = defineKind({
  kind: 'ntfy',
  title: 'ntfy',
  hasButtons: true,
  schema: z.strictObject({
    url: httpUrl
      .refine(url => new URL(url).pathname.length > 1, 'must end with the topic')
      .refine(url => isEscaped(url.slice(url.lastIndexOf('/') + 1)), ESCAPE),
    token: secret.optional(),
    user: z.string().optional(),
    password: secret.optional(),
  }),
  open({ url, token, user, password }, { clock, title, where }): Sender {
    const cut = url.lastIndexOf('/')
    const [base, topic] = [url.slice(0, cut), decodeURIComponent(url.slice(cut + 1))]
    const login = toLogin(token, user, password)
    const upstream = createUpstream({
      name: 'ntfy',
      title,
      url: base,
      clock,
      // Without a login the topic's name is the secret: everybody who knows it can read the topic.
      secrets: [...(login === undefined ? [topic] : []), ...(password === undefined ? [] : [password])],
      headers: login === undefined ? {} : { authorization: login },
      settings: {
        url: where,
        key: `the token or password of ${where}`,
        where: 'ntfy: Account > Access tokens',
      },
    })
    return {
      address: upstream.address,
      send: (message, signal) => publish(upstream, topic, message, signal),
      replace: (earlier, _message, signal) => remove(upstream, topic, earlier, signal),
      find: (message, isKnown, signal) => find(upstream, topic, { message, isKnown }, signal),
      check: signal => upstream.get('/v1/health', { schema: z.object({ healthy: z.literal(true) }), signal }),
    }
  },
})

function toLogin(token: string | undefined, user: string | undefined, password = '') {
  if (token !== undefined) return `Bearer ${token}`
  return user && `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

type Published = Awaited<ReturnType<typeof toPublished>>

async function toPublished(message: Outgoing) {
  const { text, note } = cutBytes(message.text, MAX_MESSAGE)
  const title = message.title === undefined ? undefined : cutBytes(message.title, MAX_TITLE).text
  const count = message.buttons.length
  return {
    message: text,
    title,
    priority: PRIORITIES[message.severity],
    tags: TAGS[message.severity],
    markdown: (await toPlain(text)) !== text.trim(),
    notes: [...(note === undefined ? [] : [note]), ...(count === 0 ? [] : [`with ${count} buttons`])],
  }
}

async function publish(
  upstream: Upstream,
  topic: string,
  message: Outgoing,
  signal: AbortSignal,
): Promise<Delivered> {
  const sent = await toPublished(withRemark(message))
  const { picture } = message
  const options = { schema: published, signal }
  const { id } =
    picture?.kind === 'bytes'
      ? await upstream.send('PUT', `/${encodeURIComponent(topic)}`, {
          ...options,
          body: { bytes: picture.bytes, type: picture.mimeType },
          headers: toHeaders(message.id, picture.name, sent),
        })
      : await upstream.send('POST', '/', { ...options, body: { json: toJson(message, topic, sent) } })
  return { upstreamId: id, notes: sent.notes }
}

/**
 * Removes a message from the apps that show it. Servers before 2.16 do not know the path, and answer 404; a message that
 * is not known is 200.
 */
async function remove(
  upstream: Upstream,
  topic: string,
  { id }: Earlier,
  signal: AbortSignal,
): Promise<Delivered> {
  const path = `/${encodeURIComponent(topic)}/${id}`
  const { status } = await upstream.raw('DELETE', path, { accept: [404], signal })
  const note =
    status === 404
      ? 'the earlier message stays: ntfy removes messages from 2.16 on'
      : 'the earlier message was removed'
  return { upstreamId: undefined, notes: [note] }
}

/**
 * Returns the JSON to publish. ntfy takes a button as an action of the kind "http". Apps of ntfy 2.16 and later show a repeated `sequence_id` once; older servers
 * ignore it.
 */
function toJson(message: Outgoing, topic: string, { notes: _, ...sent }: Published) {
  const attach = message.picture?.kind === 'url' ? { attach: message.picture.url } : {}
  const actions = message.buttons.map(button => ({
    action: 'http',
    method: 'POST',
    clear: true,
    ...button,
  }))
  const shown = actions.length === 0 ? {} : { actions }
  return { topic, ...sent, ...attach, ...shown, sequence_id: message.id }
}

function toHeaders(id: string, file: string, sent: Published): Record<string, string> {
  return {
    'x-message': toHeader(sent.message.replaceAll('\n', '\\n')),
    ...(sent.title === undefined ? {} : { 'x-title': toHeader(sent.title) }),
    'x-priority': String(sent.priority),
    ...(sent.tags.length > 0 ? { 'x-tags': sent.tags.join(',') } : {}),
    ...(sent.markdown ? { 'x-markdown': 'yes' } : {}),
    'x-filename': file,
    'x-sequence-id': id,
  }
}

/** Encodes a header's text by RFC 2047, because headers hold ASCII only. */
function toHeader(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** Looks for the message among those that the topic keeps; undefined if the login may only write. */
async function find(
  upstream: Upstream,
  topic: string,
  { message, isKnown }: { message: Outgoing; isKnown: (id: string) => boolean },
  signal: AbortSignal,
): Promise<Delivered | undefined> {
  const { message: text, title = '', notes } = await toPublished({ ...message, isDoubtful: false })
  const again = (await toPublished(withRemark({ ...message, isDoubtful: true }))).message
  const since = Math.floor((message.triedAt ?? message.at) / 1000) - CLOCK_SLACK_S
  const answer = await upstream.raw('GET', `/${encodeURIComponent(topic)}/json`, {
    query: { poll: 1, since },
    accept: [401, 403, 404],
    signal,
  })
  if (answer.status !== 200) return undefined
  const kept = answer.text().split('\n').flatMap(readLine)
  const texts = [text.trim(), again.trim()]
  const found = kept.find(
    one => texts.includes(one.message.trim()) && one.title === title && !isKnown(one.id),
  )
  return found && { upstreamId: found.id, notes }
}

function readLine(line: string) {
  try {
    return [published.parse(JSON.parse(line))]
  } catch {
    return [] // keep-alives and events that newer versions add
  }
}
