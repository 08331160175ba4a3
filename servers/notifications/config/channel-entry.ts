import ms from 'ms'
import { z } from 'zod'
import { isTimezone } from '../../../schemas/timezone.ts'
import { cleanText } from '../../kit/text.ts'
import type { ChannelKind } from '../channels/channel.ts'
import { channelKinds } from '../channels/index.ts'

const NAME = /^[\w-][\w .-]{0,39}$/
const DAY = 86_400_000

const span = z
  .string()
  .regex(/^\d+(\.\d+)?\s*(ms|s|m|h|d)?$/, 'must be a span such as "10m"')
  .transform(text => ms(text as ms.StringValue))
  .refine(value => value <= DAY, 'must be at most a day')
const time = z
  .string()
  .regex(/^([01]?\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time such as "22:00"')
  .transform(text => text.split(':').reduce((minutes, part) => minutes * 60 + Number(part), 0))

/**
 * A channel's quiet hours, in minutes of the day from 0 up to 1440; if `from` is later than `to`, they
 * include midnight.
 */
const quietHours = z
  .strictObject({
    from: time,
    to: time,
    timezone: z.string().refine(isTimezone, 'must be an IANA time zone').optional(),
    critical: z.enum(['pass', 'hold']).default('pass'),
  })
  .refine(({ from, to }) => from !== to, 'must not begin when it ends')

/** The keys that an entry of any kind may have; spans are in milliseconds. */
const common = z.object({
  quietHours: quietHours.optional(),
  /** An equal message is not sent again within this time; 0 turns this off. */
  dedupe: z.union([z.literal('off').transform(() => 0), span]).default(5 * 60_000),
  limit: z
    .strictObject({
      count: z.int().min(1).max(10_000),
      per: span.refine(value => value >= 1000, 'must be at least 1s'),
    })
    .default({ count: 30, per: 10 * 60_000 }),
})

export interface ChannelConfig {
  readonly name: string
  readonly kind: ChannelKind
  /** The entry as the kind's schema parsed it. */
  readonly entry: Record<string, unknown>
  /** The place of its settings, for messages: "NTFY_URL". */
  readonly where: string
  readonly rules: ChannelRules
}

export interface GivenChannel {
  name: string
  entry: object
  /** The entry's place in the settings, for messages. */
  where: string
  timezone: string
  /** The variables that its keys come from, if the entry is a shortcut. */
  variables?: Readonly<Record<string, string>>
  /** Describes such a variable: its form, its use, and where to find its value. */
  explain?: (variable: string) => string
}

export type QuietHours = z.output<typeof quietHours> & { timezone: string }
/** At most `limit.count` messages are sent in any `limit.per` milliseconds. */
export type ChannelRules = Omit<z.output<typeof common>, 'quietHours'> & {
  quietHours?: QuietHours | undefined
}

/** Returns the channel, or undefined after adding its errors to the problems. No message shows a value. */
export function readChannel(given: GivenChannel, problems: string[]): ChannelConfig | undefined {
  const { name, where } = given
  const { kind: kindName, quietHours, dedupe, limit, ...own } = given.entry as Record<string, unknown>
  if (!NAME.test(name)) {
    problems.push(`${where}: a channel's name is at most 40 letters, digits, spaces, dots and dashes.`)
    return undefined
  }
  const kind = channelKinds.find(one => one.kind === kindName)
  if (!kind) {
    const known = channelKinds.map(one => one.kind).join(', ')
    problems.push(`${where}: kind must be one of ${known}.`)
    return undefined
  }
  const rules = common.safeParse({ quietHours, dedupe, limit })
  const entry = kind.schema.safeParse(own)
  problems.push(...describe(given, kind, [...(rules.error?.issues ?? []), ...(entry.error?.issues ?? [])]))
  if (!rules.success || !entry.success) return undefined
  const { quietHours: quiet } = rules.data
  const zoned = quiet && { ...quiet, timezone: quiet.timezone ?? given.timezone }
  return { name, kind, entry: entry.data, where, rules: { ...rules.data, quietHours: zoned } }
}

function describe(given: GivenChannel, kind: ChannelKind, issues: readonly z.core.$ZodIssue[]): string[] {
  return issues.map(issue => {
    const key = issue.path.map(String).join('.')
    const variable = given.variables?.[key]
    const at = variable ?? (key === '' ? given.where : `${key} of ${given.where}`)
    const what = isMissing(given.entry, issue.path) ? 'is not set' : cleanText(issue.message)
    const keys = issue.code === 'unrecognized_keys' ? `; it takes ${toKeys(kind)}` : ''
    const more = variable === undefined ? undefined : given.explain?.(variable)
    return `${at}: ${what}${keys}. (${kind.title})${more === undefined ? '' : ` ${more}`}`
  })
}

function toKeys(kind: ChannelKind): string {
  return [...Object.keys(kind.schema.shape), ...Object.keys(common.shape)].join(', ')
}

function isMissing(entry: object, [key, ...deeper]: readonly PropertyKey[]): boolean {
  return (
    key !== undefined && deeper.length === 0 && (entry as Record<PropertyKey, unknown>)[key] === undefined
  )
}
