import { z } from 'zod'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import { looksLikePage } from '../../kit/upstream/reason.ts'
import { createUpstream, type RequestOptions } from '../../kit/upstream/upstream.ts'
import type { Outgoing, Severity } from '../message.ts'
import { defineKind, type Sender } from './channel.ts'
import { httpUrl, secret } from './entry.ts'
import { withRemark } from './remark.ts'

/** Milliseconds per request. Apprise waits for every service behind it. */
const LIMIT = 20_000
const TYPES = { info: 'info', warning: 'warning', critical: 'failure' } as const satisfies Record<
  Severity,
  string
>

/**
 * Apprise's API: a stored configuration by its key, or addresses sent with the message. It returns no message
 * id.
 */
export const apprise = defineKind({
  kind: 'apprise',
  title: 'Apprise API',
  schema: z
    .strictObject({
      url: httpUrl,
      key: z
        .string()
        .regex(/^[\w-]{1,128}$/, 'must be the key of a stored configuration')
        .optional(),
      urls: secret.optional(),
      tag: z.string().optional(),
    })
    .refine(({ key, urls }) => (key === undefined) !== (urls === undefined), 'needs either key or urls'),
  open({ url, key, urls, tag }, { clock, title, where }): Sender {
    const upstream = createUpstream({
      name: 'apprise',
      title,
      url,
      clock,
      limit: LIMIT,
      secrets: [key, urls].filter(one => one !== undefined),
      settings: { url: where, key: `the key of ${where}`, where: "Apprise's page: Configuration" },
    })
    const path = key === undefined ? '/notify' : `/notify/${key}`
    return {
      address: upstream.address,
      async send(message, signal) {
        const body = toBody(withRemark(message), { urls, tag })
        const answer = await upstream.raw('POST', path, { body, signal, accept: [424] })
        const { status } = answer
        const isStranger = status === 200 && looksLikePage(answer.text())
        if (status === 204 || status === 424 || isStranger) {
          throw toUndelivered(title, `POST ${upstream.address}`, status, where)
        }
        const isLost = message.picture?.kind === 'url'
        return { upstreamId: undefined, notes: isLost ? ['the image went as a link'] : [] }
      },
      check: signal => upstream.raw('GET', '/status', { signal }),
    }
  },
})

function toBody(message: Outgoing, target: Record<string, string | undefined>): RequestOptions['body'] {
  const { title, text, severity, picture } = message
  const link = picture?.kind === 'url' ? `\n\n${picture.url}` : ''
  const fields = {
    ...target,
    body: `${text}${link}`,
    title,
    type: TYPES[severity],
    format: 'markdown',
  }
  if (picture?.kind !== 'bytes') return { json: fields }
  const multipart = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) multipart.set(name, value)
  multipart.set('attach', new Blob([picture.bytes], { type: picture.mimeType }), picture.name)
  return { multipart }
}

/** The meaning of Apprise's statuses, and how to fix them. A page of HTML was sent by another program. */
const REASONS: Readonly<Record<number, { what: string; why: string; fix: string }>> = {
  200: {
    what: 'is not what answers there.',
    why: 'it answered with a web page',
    fix: 'Check that the address is that of the Apprise API itself, and not of a login page or a proxy before it',
  },
  204: {
    what: 'has nothing to send to.',
    why: 'it answered 204: no service is stored under this key, or none has the tag',
    fix: 'Store a configuration under the key, or check key and tag',
  },
  424: {
    what: 'could not reach every service behind it.',
    why: 'it answered 424: at least one service failed, others may have got it, so it is not sent again',
    fix: "Look at Apprise's log for which service failed, and mend that one",
  },
}

function toUndelivered(title: string, at: string, status: number, where: string): UpstreamFailure {
  const reason = REASONS[status]
  return new UpstreamFailure({
    kind: 'refused',
    what: `${title} ${reason?.what ?? 'did not take it.'}`,
    where: at,
    why: reason?.why ?? `it answered ${status}`,
    fix: `${reason?.fix ?? 'Check it'} (${where}).`,
    status,
  })
}
