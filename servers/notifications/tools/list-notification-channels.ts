import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { known, toFacts } from '../../kit/render.ts'
import { quote, toAgeText, toCountText, toSpanText, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Channels } from '../channels/channels.ts'
import type { ChannelConfig, QuietHours } from '../config/channel-entry.ts'
import { severity } from '../message.ts'
import { decideQuiet } from '../outbox/decide-hold.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { findFigures } from '../outbox/receipts.ts'

const channel = z.object({
  name: z.string().describe('for the argument channel of send_notification'),
  kind: z.string().describe('what program is behind it'),
  address: z.string(),
  severities: z.array(severity).describe('which messages go there that name no channel'),
  quietHours: z.string().optional(),
  quietUntil: z.number().optional().describe('unix milliseconds; only while it is quiet'),
  limit: z.string().describe('more than this is held and sent together'),
  dedupeSeconds: z.number().describe('for how long the same is not sent again'),
  waiting: z.int().describe('messages that are not delivered yet'),
  lastSentAt: z.number().optional().describe('unix milliseconds'),
  problem: foreignText(400, 'what went wrong since the last one arrived').optional(),
})
const output = z.object({ channels: z.array(channel) })
type Listed = z.input<typeof channel>

export interface ListDeps {
  channels: Channels
  outbox: Outbox
  clock: Clock
  timezone: string
}

/**
 * `list_notification_channels`: the configured channels, and the outbox's figures of each. It calls no
 * upstream.
 */
export function listNotificationChannels({ channels, outbox, clock, timezone }: ListDeps): Tool {
  return defineTool({
    name: 'list_notification_channels',
    title: 'Notification channels',
    description:
      'Where notifications can be sent: channels, which severity goes where, quiet hours, limits, what ' +
      'waits, the last failure. Call it before choosing a channel for send_notification.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({}),
    output,
    async run() {
      const opened = await outbox.openExisting()
      const listed = channels.all.map(({ config, sender }): Listed => {
        const figures = opened && findFigures(opened.database, config.name)
        const { waiting = 0, sentAt, failure } = figures ?? {}
        return {
          ...toSettings(config, clock.now()),
          address: sender.address,
          severities: channels.severitiesOf(config.name),
          waiting,
          lastSentAt: sentAt,
          problem: failure && `${failure.what} ${failure.why}`,
        }
      })
      return {
        data: { channels: listed },
        text: [
          listed.length === 0 && 'No notification channel is configured.',
          listed.map(one => toLine(one, clock.now(), timezone)),
        ],
        untrusted: listed.some(({ problem }) => problem !== undefined),
      }
    },
  })
}

function toSettings({ name, kind, rules }: ChannelConfig, now: number) {
  const { quietHours: quiet, limit, dedupe } = rules
  return {
    name,
    kind: kind.title,
    quietHours: quiet && toQuietText(quiet),
    quietUntil: decideQuiet(now, 'info', quiet),
    limit: `${toCountText(limit.count, 'message')} in ${toSpanText(limit.per / 1000)}`,
    dedupeSeconds: dedupe / 1000,
  }
}

function toQuietText({ from, to, timezone, critical }: QuietHours): string {
  const toClock = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  const whom = critical === 'hold' ? 'for all' : 'critical passes'
  return `from ${toClock(from)} to ${toClock(to)} (${timezone}), ${whom}`
}

function toLine(one: Listed, now: number, timezone: string): string {
  const facts = toFacts(
    [
      one.severities.length > 0 ? `gets ${one.severities.join(', ')} by default` : 'only when named',
      one.waiting > 0 && `${toCountText(one.waiting, 'message')} waiting`,
      known(one.lastSentAt, at => `last sent ${toAgeText(at, now)}`),
      known(one.quietUntil, at => `quiet until ${toTimeText(at, timezone)}`),
      known(one.problem, problem => `PROBLEM: ${quote(problem, 400)}`),
    ],
    '; ',
  )
  return `${one.name}: ${one.kind} at ${one.address}; ${facts}.`
}
