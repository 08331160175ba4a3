import { z } from 'zod'
import { parseTime } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { quote, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Channels } from '../channels/channels.ts'
import { severity } from '../message.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { findHistory } from '../outbox/receipts.ts'
import type { Row, Status } from '../outbox/row.ts'
import { receipt, toReceipt, toReceiptText } from './receipt.ts'

const GROUPS = {
  waiting: ['waiting', 'held', 'sending', 'retrying'],
  sent: ['sent'],
  failed: ['failed'],
} as const satisfies Record<string, readonly Status[]>

const input = z.strictObject({
  channel: z.string().trim().min(1).optional(),
  status: z.enum(['waiting', 'sent', 'failed']).optional(),
  since: z.iso.datetime({ offset: true }).optional().describe('ISO 8601'),
  ...pageFields(20, 200),
})
const entry = receipt.extend({
  title: foreignText(250).optional(),
  message: foreignText(500),
  severity,
  acceptedAt: z.number().describe('unix milliseconds'),
  image: z.boolean(),
})
const output = z.object({ notifications: z.array(entry), ...pageOutput })
type Entry = z.input<typeof entry>

export interface HistoryDeps {
  channels: Channels
  outbox: Outbox
  timezone: string
}

/** `get_notification_history`: sent, waiting and failed messages, newest first. */
export function getNotificationHistory({ channels, outbox, timezone }: HistoryDeps): Tool {
  return defineTool({
    name: 'get_notification_history',
    title: 'Notification history',
    description:
      'Notifications that were sent, wait or failed, the newest first, with why and what to do. For ' +
      'whether something arrived, or what was told lately.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    output,
    async run({ channel, status, since, limit, offset }) {
      const opened = await outbox.openExisting()
      const query = {
        channel: channel === undefined ? undefined : toName(channels, channel),
        statuses: status === undefined ? undefined : GROUPS[status],
        since: parseTime(since),
        limit,
        offset,
      }
      const { rows, total } = opened ? findHistory(opened.database, query) : { rows: [], total: 0 }
      const notifications = rows.map(row => toEntry(row, channels.titleOf(row.channel)))
      const part = { items: notifications, total, offset, more: offset + rows.length < total }
      return {
        data: { notifications, total, offset, more: part.more },
        text: [
          total === 0 && 'No notification was sent that fits.',
          notifications.map(one => toLine(one, timezone)),
          toMoreText(part, 'notification'),
        ],
        untrusted: rows.length > 0,
      }
    },
  })
}

/** Returns the channel's name. A channel that is no longer configured still has a history. */
function toName(channels: Channels, asked: string): string {
  try {
    return channels.find(asked).name
  } catch (error) {
    if (error instanceof ToolFailure) return asked
    throw error
  }
}

function toEntry(row: Row, kind: string): Entry {
  return {
    ...toReceipt(row, kind, false),
    title: row.title ?? undefined,
    message: row.text,
    severity: row.severity,
    acceptedAt: row.created_at,
    image: row.image_type !== null || row.image_url !== null,
  }
}

function toLine(one: Entry, timezone: string): string {
  const words =
    one.title === undefined ? quote(one.message, 120) : `${quote(one.title, 80)}: ${quote(one.message, 120)}`
  const grade = one.severity === 'info' ? '' : `${one.severity}, `
  return `${toTimeText(one.acceptedAt, timezone)}, ${grade}${words}. ${toReceiptText(one, timezone)}`
}
