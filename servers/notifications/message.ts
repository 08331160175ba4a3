import { z } from 'zod'

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export const severity = z.enum(SEVERITIES)
export type Severity = z.infer<typeof severity>

/** A picture that goes along: as bytes, or as an address that the receiving app loads itself. */
export type Picture =
  | { kind: 'bytes'; bytes: Uint8Array<ArrayBuffer>; mimeType: string; name: string }
  | { kind: 'url'; url: string }

/** What goes out on one channel. */
export interface Outgoing {
  /** Stays the same when it is tried again: at most 25 letters, digits, dashes and underscores. */
  readonly id: string
  readonly title: string | undefined
  /** Markdown. */
  readonly text: string
  readonly severity: Severity
  readonly picture: Picture | undefined
  /** When it was accepted, unix milliseconds. */
  readonly at: number
  /** When it was first tried, unix milliseconds; undefined at the first try. */
  readonly triedAt: number | undefined
  /** Nobody knows whether an earlier try arrived. */
  readonly isDoubtful: boolean
}

/** What the upstream said when it took it. */
export interface Delivered {
  /** The upstream's own id of it, where it has one. */
  readonly upstreamId: string | undefined
  /** What was lost on the way: "cut to 2,000 characters". */
  readonly notes: readonly string[]
}
