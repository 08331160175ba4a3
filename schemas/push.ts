import { z } from 'zod'
import type { MessageButton } from './message-buttons.ts'

/** Bytes of a browser's public key (an uncompressed point of P-256) and of its secret (RFC 8291). */
const KEY_BYTES = 65
const SECRET_BYTES = 16

const bytes = (count: number) =>
  z.base64url().refine(text => Math.floor((text.length * 3) / 4) === count, `must be ${count} bytes`)

/** What a browser says of itself so that it is sent notifications; it has further keys. */
export const pushSubscription = z.object({
  endpoint: z.url({ protocol: /^https$/ }).max(2_000),
  keys: z.object({ p256dh: bytes(KEY_BYTES), auth: bytes(SECRET_BYTES) }),
})
export type PushSubscription = z.infer<typeof pushSubscription>

/** What the page's worker gets with a push, as JSON. */
export interface PushMessage {
  /** A later message with the same tag takes the place of this one. */
  tag: string
  title: string
  text: string
  /** The conversation that a click opens; null for the page as it opens by itself. */
  conversation: string | null
  /** Their addresses are relative to the page. */
  buttons?: readonly MessageButton[]
  /** What the earlier message asked is answered. */
  isOver?: boolean
}
