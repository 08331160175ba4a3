import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { cleanText, quote, toCountText, toTimeText } from '../../kit/text.ts'
import { type Hold, hold, type Row, status } from '../outbox/row.ts'

const HOLDS = {
  quiet: 'quiet hours',
  rate: 'the limit of this channel',
  upstream: 'the service asked to wait',
} as const satisfies Record<Hold, string>

/** The state of a message on one channel. */
export const receipt = z.object({
  channel: z.string(),
  kind: z.string().describe('what program is behind it'),
  status: z
    .enum([...status.options, 'duplicate'])
    .describe(
      'sent: the service took it; held: waits until `until`; retrying: a try failed, the next is at `until`; waiting or ' +
        'sending: under way; failed: given up; duplicate: the same went out just before, so this was not sent',
    ),
  attempts: z.int(),
  sentAt: z.number().optional().describe('unix milliseconds'),
  until: z.number().optional().describe('unix milliseconds of the next try'),
  hold: hold.optional().describe('why it is held'),
  upstreamId: foreignText(100, "the service's own id of it").optional(),
  reason: foreignText(400, 'what went wrong').optional(),
  fix: z.string().optional().describe('what to do about it'),
  mayBeRepeated: z.boolean().optional().describe('a try was cut, so it may arrive twice'),
  notes: z.array(z.string()).optional().describe('what was changed to make it fit'),
  repeats: z.int().optional().describe('how many equal ones came since and were not sent'),
})
export type Receipt = z.output<typeof receipt>

export function toReceipt(row: Row, kind: string, isDuplicate: boolean): Receipt {
  const { failure, notes } = row
  return {
    channel: row.channel,
    kind,
    status: isDuplicate ? 'duplicate' : row.status,
    attempts: row.attempts,
    sentAt: (row.status === 'sent' && row.finished_at) || undefined,
    until: (['waiting', 'held', 'retrying'].includes(row.status) && row.due) || undefined,
    hold: (row.status === 'held' && row.hold) || undefined,
    upstreamId: row.upstream_id === null ? undefined : cleanText(row.upstream_id, 100),
    reason: failure && `${failure.what} ${failure.why}`,
    fix: failure?.fix,
    mayBeRepeated: row.doubtful === 1 || undefined,
    notes: notes.length > 0 ? notes : undefined,
    repeats: row.repeats || undefined,
  }
}

/** Formats a receipt: "Sent on phone (ntfy)." */
export function toReceiptText(one: Receipt, timezone: string): string {
  const on = `${one.channel} (${one.kind})`
  const until = one.until === undefined ? '' : toTimeText(one.until, timezone)
  const notes = one.notes === undefined ? '' : ` Note: ${one.notes.join('; ')}.`
  switch (one.status) {
    case 'sent':
      return `Sent on ${on}.${notes}`
    case 'duplicate':
      return `Not sent again on ${on}: the same went there just before (${toCountText(one.repeats ?? 1, 'time')} since).`
    case 'held':
      return `Accepted for ${on}, held until ${until}: ${HOLDS[one.hold ?? 'rate']}.`
    case 'retrying':
      return `Accepted for ${on}, but a try failed: ${quote(one.reason ?? '', 400)}. It is tried again at ${until}. What to do: ${one.fix ?? ''}`
    case 'failed':
      return `Not sent on ${on}: ${quote(one.reason ?? '', 400)}. What to do: ${one.fix ?? ''}`
    case 'waiting':
    case 'sending':
      return one.reason === undefined
        ? `Accepted for ${on}; it is on its way.`
        : `Not confirmed on ${on}: ${quote(one.reason, 400)}. It is tried again. What to do: ${one.fix ?? ''}`
    default:
      return one.status satisfies never
  }
}
