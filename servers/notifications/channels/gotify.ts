import { z } from 'zod'
import { createUpstream, type Upstream } from '../../kit/upstream/upstream.ts'
import type { Delivered, Earlier, Outgoing, Severity } from '../message.ts'
import { defineKind, type Sender } from './channel.ts'
import { httpUrl, secret } from './entry.ts'
import { withRemark } from './remark.ts'

/** Gotify's priorities: its Android app makes a sound from 4 to 7 and pops up from 8 on. */
const PRIORITIES = { info: 4, warning: 6, critical: 9 } as const satisfies Record<Severity, number>
const created = z.object({ id: z.number() })
const about = z.object({ version: z.string() })

/** Gotify, as one application. It shows pictures only by their address. */
export const gotify = defineKind({
  kind: 'gotify',
  title: 'Gotify',
  schema: z.strictObject({ url: httpUrl, token: secret, clientToken: secret.optional() }),
  open({ url, token, clientToken }, { clock, title, where }): Sender {
    const upstream = createUpstream({
      name: 'gotify',
      title,
      url,
      clock,
      headers: { 'x-gotify-key': token },
      secrets: clientToken === undefined ? [] : [clientToken],
      settings: {
        url: where,
        key: `the application token of ${where}, and its clientToken if it has one`,
        where: 'Gotify: Apps, and Clients',
      },
    })
    return {
      address: upstream.address,
      async send(message, signal) {
        const { id } = await upstream.send('POST', '/message', {
          schema: created,
          body: { json: toBody(withRemark(message)) },
          signal,
        })
        const isLost = message.picture?.kind === 'bytes'
        return {
          upstreamId: String(id),
          notes: isLost ? ['without the image: Gotify takes only addresses'] : [],
        }
      },
      ...(clientToken === undefined
        ? {}
        : { replace: (earlier, _message, signal) => remove(upstream, clientToken, earlier, signal) }),
      check: async signal => (await upstream.get('/version', { schema: about, signal })).version,
    }
  },
})

/** Removes a message, which takes a client's token: an application's token only sends. */
async function remove(
  upstream: Upstream,
  clientToken: string,
  { upstreamId }: Earlier,
  signal: AbortSignal,
): Promise<Delivered> {
  const headers = { 'x-gotify-key': clientToken }
  await upstream.raw('DELETE', `/message/${upstreamId}`, { headers, accept: [404], signal })
  return { upstreamId: undefined, notes: ['the earlier message was removed'] }
}

function toBody({ title, text, severity, picture }: Outgoing) {
  const url = picture?.kind === 'url' ? picture.url : undefined
  return {
    title,
    message: url === undefined ? text : `${text}\n\n![](${url})`,
    priority: PRIORITIES[severity],
    extras: {
      'client::display': { contentType: 'text/markdown' },
      ...(url === undefined ? {} : { 'client::notification': { bigImageUrl: url } }),
    },
  }
}
