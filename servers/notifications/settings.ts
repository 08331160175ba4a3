import type { ChannelKind } from './channels/channel.ts'
import type { Severity } from './message.ts'

/** When a channel is quiet. Minutes of the day, 0 up to 1440; `from` later than `to` goes over midnight. */
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
  /** Milliseconds in which the same is not sent again; 0 for never mind. */
  readonly dedupe: number
  readonly limit: RateLimit
}

export interface ChannelConfig {
  readonly name: string
  readonly kind: ChannelKind
  /** As the kind's schema made it. */
  readonly entry: Record<string, unknown>
  /** Where it stands, for messages: "NTFY_URL". */
  readonly where: string
  readonly rules: ChannelRules
}

/** Names of channels for each severity. */
export type Routing = Readonly<Record<Severity, readonly string[]>>

export interface NotificationSettings {
  readonly channels: readonly ChannelConfig[]
  readonly routing: Routing
  readonly timezone: string
  /** Of the outbox and the history. */
  readonly file: string
}
