import { z } from 'zod'
import { createUpstream } from '../../kit/upstream/upstream.ts'
import type { Outgoing, Severity } from '../message.ts'
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
  schema: z.strictObject({ url: httpUrl, token: secret }),
  open({ url, token }, { clock, title, where }): Sender {
    const upstream = createUpstream({
      name: 'gotify',
      title,
      url,
      clock,
      headers: { 'x-gotify-key': token },
      settings: { url: where, key: `the application token of ${where}`, where: 'Gotify: Apps' },
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
      check: async signal => (await upstream.get('/version', { schema: about, signal })).version,
    }
  },
})

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
