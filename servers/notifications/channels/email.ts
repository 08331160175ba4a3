import type SMTPTransport from 'nodemailer/lib/smtp-transport'
import { z } from 'zod'
import type { Delivered, Outgoing, Severity } from '../message.ts'
import { escapeHtml } from '../text/entities.ts'
import { toHtml, toPlain } from '../text/markdown.ts'
import { defineKind, type Sender } from './channel.ts'
import { explainMail } from './email-failure.ts'
import { ESCAPE, isEscaped, secret } from './entry.ts'
import { withRemark } from './remark.ts'

const LIMIT = 20_000
const MAX_SUBJECT = 150
const MARKS = { info: '', warning: 'Warning: ', critical: 'CRITICAL: ' } as const satisfies Record<
  Severity,
  string
>
const address = z.string().regex(/^[^\r\n]+@[^\r\n]+$/, 'must be a mail address')

const schema = z.strictObject({
  /** An address such as smtp://user:password@host:587; smtps:// encrypts from the first byte. */
  url: z
    .url({ protocol: /^smtps?$/, error: 'must look like smtp://host:587 or smtps://host' })
    .refine(text => new URL(text).search === '', 'must have no query')
    .refine(text => isEscaped(new URL(text).username) && isEscaped(new URL(text).password), ESCAPE),
  user: z.string().optional(),
  password: secret.optional(),
  from: address,
  to: z.union([address.transform(one => [one]), z.array(address).min(1)]),
  /** Accepts a self-signed certificate, as mail servers at home have. */
  allowSelfSigned: z.boolean().default(false),
})
type Entry = z.output<typeof schema>

/**
 * E-mail over SMTP. It encrypts if the server offers that, and requires encryption if a password would
 * otherwise cross a network in the clear. Every try has the same `Message-ID`, so that mail servers can drop
 * a repeated one.
 */
export const email = defineKind({
  kind: 'email',
  title: 'E-mail',
  schema,
  open(entry, { title, where }): Sender {
    const url = new URL(entry.url)
    const asked = {
      title,
      address: url.host,
      where,
      secrets: [entry.password, decodeURIComponent(url.password)],
    }
    const options = toOptions(entry, url)
    return {
      address: url.host,
      send: (message, signal) =>
        withTransport(options, signal, async transport => {
          const mail = await toMail(withRemark(message), entry)
          const sent = await transport.sendMail(mail).catch(error => {
            throw explainMail(asked, error)
          })
          return toDelivered(sent)
        }),
      check: signal =>
        withTransport(options, signal, transport =>
          transport.verify().catch(error => {
            throw explainMail(asked, error)
          }),
        ),
    }
  },
})

function toOptions(entry: Entry, url: URL): SMTPTransport.Options {
  const user = entry.user ?? decodeURIComponent(url.username)
  const pass = entry.password ?? decodeURIComponent(url.password)
  const secure = url.protocol === 'smtps:'
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && pass !== '' && !isHere,
    connectionTimeout: LIMIT,
    greetingTimeout: LIMIT,
    socketTimeout: LIMIT,
    tls: { rejectUnauthorized: !entry.allowSelfSigned },
    ...(user === '' ? {} : { auth: { user, pass } }),
  }
}

type Transport = ReturnType<typeof import('nodemailer').createTransport<SMTPTransport.SentMessageInfo>>

/** Opens one connection for `use`; an abort of the signal closes it. */
async function withTransport<Result>(
  options: SMTPTransport.Options,
  signal: AbortSignal,
  use: (transport: Transport) => Promise<Result>,
): Promise<Result> {
  const { createTransport } = await import('nodemailer')
  signal.throwIfAborted()
  const transport = createTransport(options)
  const close = () => transport.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    return await use(transport)
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

async function toMail(message: Outgoing, { from, to }: Entry) {
  const { picture, severity } = message
  const plain = await toPlain(message.text)
  const first = plain.split('\n', 1)[0] ?? ''
  const subject = `${MARKS[severity]}${(message.title ?? first).slice(0, MAX_SUBJECT).toWellFormed()}`
  const link = picture?.kind === 'url' ? picture.url : undefined
  const domain = from.replace(/^.*@|[>\s].*$/g, '')
  return {
    from,
    to,
    subject,
    messageId: `<${message.id}@${domain}>`,
    text: link === undefined ? plain : `${plain}\n\n${link}`,
    html: `${await toHtml(message.text)}${toPictureHtml(picture)}`,
    priority: severity === 'critical' ? ('high' as const) : ('normal' as const),
    attachments:
      picture?.kind === 'bytes'
        ? [
            {
              filename: picture.name,
              content: Buffer.from(picture.bytes),
              contentType: picture.mimeType,
              cid: 'image',
            },
          ]
        : [],
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function toPictureHtml(picture: Outgoing['picture']): string {
  if (picture === undefined) return ''
  if (picture.kind === 'bytes') return '<p><img src="cid:image" alt=""></p>'
  const url = escapeHtml(picture.url)
  return `<p><a href="${url}">${url}</a></p>`
}

function toDelivered({ messageId, rejected }: SMTPTransport.SentMessageInfo): Delivered {
  const notes = rejected.length > 0 ? [`the server refused ${rejected.length} of its receivers`] : []
  return { upstreamId: messageId, notes }
}
