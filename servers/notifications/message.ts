import { z } from 'zod'
import type { MessageButton } from '../../schemas/message-buttons.ts'

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export const severity = z.enum(SEVERITIES)
export type Severity = z.infer<typeof severity>

/** A picture of a message: its bytes, or an address that the receiving app loads itself. */
export type Picture =
  | { kind: 'bytes'; bytes: Uint8Array<ArrayBuffer>; mimeType: string; name: string }
  | { kind: 'url'; url: string }

/** A message to send on one channel. */
export interface Outgoing {
  /** The same id at every try: at most 25 letters, digits, dashes and underscores. */
  readonly id: string
  readonly title: string | undefined
  /** Markdown. */
  readonly text: string
  readonly severity: Severity
  readonly picture: Picture | undefined
  /** Only where the channel's kind has buttons. */
  readonly buttons: readonly MessageButton[]
  /** Unix milliseconds at which it was accepted. */
  readonly at: number
  /** Unix milliseconds of its first try; undefined during that try. */
  readonly triedAt: number | undefined
  /** True if an earlier try may have arrived. */
  readonly isDoubtful: boolean
}

/** A message that arrived, and whose place another takes. */
export interface Earlier {
  /** The id that it was sent with. */
  readonly id: string
  /** The upstream's own id of it. */
  readonly upstreamId: string
}

/** The upstream's answer after it took a message. */
export interface Delivered {
  /** The upstream's own id of the message, if it has one. */
  readonly upstreamId: string | undefined
  /** Losses in the conversion: "cut to 2,000 characters". */
  readonly notes: readonly string[]
}
