import type { ChannelKind } from './channels/channel.ts'
import type { Severity } from './message.ts'

/**
 * A channel's quiet hours, in minutes of the day from 0 up to 1440; if `from` is later than `to`, they
 * include midnight.
 */
export interface QuietHours {
  readonly from: number
  readonly to: number
  readonly timezone: string
  readonly isCriticalHeld: boolean
}

/** At most `count` messages in any `per` milliseconds. */
export interface RateLimit {
  readonly count: number
  readonly per: number
}

export interface ChannelRules {
  readonly quiet: QuietHours | undefined
  /** Milliseconds within which an equal message is not sent again; 0 turns this off. */
  readonly dedupe: number
  readonly limit: RateLimit
}

export interface ChannelConfig {
  readonly name: string
  readonly kind: ChannelKind
  /** The entry as the kind's schema parsed it. */
  readonly entry: Record<string, unknown>
  /** The place of its settings, for messages: "NTFY_URL". */
  readonly where: string
  readonly rules: ChannelRules
}

/** Names of channels for each severity. */
export type Routing = Readonly<Record<Severity, readonly string[]>>

export interface NotificationSettings {
  readonly channels: readonly ChannelConfig[]
  readonly routing: Routing
  readonly timezone: string
  /** Path of the outbox and history. */
  readonly file: string
}
