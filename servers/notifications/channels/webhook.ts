import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { mapTexts } from '../../kit/config-file.ts'
import { createUpstream } from '../../kit/upstream/upstream.ts'
import type { Outgoing } from '../message.ts'
import { toPlain } from '../text/markdown.ts'
import { defineKind, type Sender, type SenderDeps } from './channel.ts'
import { anyUrl, secret } from './entry.ts'

const MAX_ANSWER = 64 * 1024

const schema = z
  .strictObject({
    url: anyUrl,
    method: z.enum(['POST', 'PUT']).default('POST'),
    headers: z.record(z.string().regex(/^[\w-]+$/), z.string()).default({}),
    /** JSON with placeholders such as "{{title}}" in its texts. */
    template: z.json().optional(),
    format: z.enum(['json', 'plain']).default('json'),
    secret: secret.optional(),
  })
  .refine(
    ({ template, format }) => template === undefined || format === 'json',
    'template and plain exclude each other',
  )
type Entry = z.output<typeof schema>

/**
 * Any HTTP address. `Idempotency-Key` is the message's id at every try; with a secret, `X-Hub-Signature-256`
 * is the HMAC of the body, as GitHub's webhooks and this hub's own understand it.
 */
export const webhook = defineKind({
  kind: 'webhook',
  title: 'Webhook',
  schema,
  open(entry, deps): Sender {
    const { upstream, path } = openUpstream(entry, deps)
    return {
      address: upstream.address,
      async send(message, signal) {
        const { text, type } = await toText(entry, message)
        const headers = { 'idempotency-key': message.id, ...toSignature(entry.secret, text) }
        const body = { text, type }
        await upstream.raw(entry.method, path, { body, headers, signal, maxBytes: MAX_ANSWER })
        return { upstreamId: undefined, notes: [] }
      },
    }
  },
})

/** Opens the upstream. Path and query may be keys (Slack's are), so only the host is shown. */
function openUpstream({ url, headers }: Entry, { clock, title, where }: SenderDeps) {
  const { origin, pathname, search } = new URL(url)
  const path = `${pathname}${search}`
  const secrets = [pathname, search].filter(part => part.length > 3)
  const upstream = createUpstream({
    name: 'webhook',
    title,
    url: origin,
    clock,
    headers,
    secrets: [...secrets, ...Object.values(headers)],
    settings: { url: where, key: `headers and secret of ${where}` },
  })
  return { upstream, path }
}

async function toText(entry: Entry, message: Outgoing): Promise<{ text: string; type: string }> {
  const plain = await toPlain(message.text)
  if (entry.format === 'plain') {
    const title = message.title === undefined ? '' : `${message.title}\n`
    return { text: `${title}${plain}`, type: 'text/plain; charset=utf-8' }
  }
  const fields = toFields(message, plain)
  const json = entry.template === undefined ? fields : fillTemplate(entry.template, fields)
  return { text: JSON.stringify(json), type: 'application/json' }
}

/**
 * Replaces every `{{name}}` in the template's texts by the field of that name; unknown names stay. Only texts
 * are filled, never the JSON itself, so that no message can break out of it.
 */
function fillTemplate(template: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  return mapTexts(template, text =>
    text.replace(/\{\{\s*(\w+)\s*\}\}/g, (all, name: string) =>
      Object.hasOwn(fields, name) ? String(fields[name]) : all,
    ),
  )
}

function toFields({ id, title, text, severity, picture, isDoubtful, at }: Outgoing, plain: string) {
  return {
    id,
    title: title ?? '',
    message: plain,
    markdown: text,
    severity,
    at,
    mayBeRepeated: isDoubtful,
    image:
      picture?.kind === 'bytes'
        ? `data:${picture.mimeType};base64,${Buffer.from(picture.bytes).toString('base64')}`
        : (picture?.url ?? ''),
  }
}

function toSignature(key: string | undefined, text: string): Record<string, string> {
  if (key === undefined) return {}
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(text).digest('hex')}` }
}
