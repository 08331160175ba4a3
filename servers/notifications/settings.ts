import type { ChannelKind } from './channels/channel.ts'
import type { ChannelRules } from './config/channel-entry.ts'
import type { Severity } from './message.ts'

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
