import { hash } from 'node:crypto'
import type { PushMessage, PushSubscription } from '../../schemas/push.ts'
import { describeError } from '../core/errors.ts'
import { isLoopback } from '../core/loopback.ts'
import { toLine, truncate } from '../core/text.ts'
import type { PushKeys } from '../store/hub-state.ts'

/** Bytes of a message that every push service takes: 4,096 with what encryption adds (RFC 8291). */
const MOST_BYTES = 3_800
/** Characters of a message that systems show: nobody approves by a button what they leave out. */
const MOST_WITH_BUTTONS = 400
/** Seconds for which a push service keeps a message for a browser that is not reached. */
const KEPT_S = 86_400
/** Characters of a push service's reason. */
const LONGEST_REASON = 200
const TIMEOUT_MS = 15_000
const TOPIC_LENGTH = 32
/** Matches hosts that are no addresses on the internet. */
const INNER = /(^|\.)(localhost|local|lan|home|internal|invalid|test|example|arpa)$|^[^.]+$|^[\d.]+$|^\[/
/** Apple refuses every message unless its sender names an address on the internet. */
const NOBODY = 'https://example.com/'

export type Pushed =
  | { kind: 'sent' }
  /** The browser does not want any more: it unsubscribed, or is gone. */
  | { kind: 'gone' }
  /** `isFinal`: the same message will not be taken later either. */
  | { kind: 'failed'; why: string; waitMs: number; isFinal: boolean }

export interface PushRequestDeps {
  fetch: typeof fetch
  keys: PushKeys
  publicUrl: string | undefined
  signal: AbortSignal
}

/** Sends one message to one browser, encrypted so that its push service cannot read it. Never rejects. */
export async function push(
  { endpoint, keys: { p256dh, auth } }: PushSubscription,
  message: PushMessage,
  { fetch, keys, publicUrl, signal }: PushRequestDeps,
): Promise<Pushed> {
  try {
    const { default: webPush } = await import('web-push')
    const { headers, body } = webPush.generateRequestDetails(
      { endpoint, keys: { p256dh, auth } },
      toPayload(message),
      {
        vapidDetails: { subject: toSubject(publicUrl), ...keys },
        TTL: KEPT_S,
        // Phones that sleep get what is new at once.
        urgency: message.isOver ? 'normal' : 'high',
        topic: hash('sha256', message.tag, 'base64url').slice(0, TOPIC_LENGTH),
      },
    )
    // `fetch` writes this header itself.
    const { 'Content-Length': _, ...sent } = headers
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: toTexts(sent),
      body: new Uint8Array(body ?? []),
      redirect: 'manual',
      signal: limit,
    })
    return await toPushed(response)
  } catch (error) {
    return { kind: 'failed', why: describeError(error), waitMs: 0, isFinal: false }
  }
}

function toTexts(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

async function toPushed(response: Response): Promise<Pushed> {
  const { status, ok, headers } = response
  if (ok) {
    await response.body?.cancel()
    return { kind: 'sent' }
  }
  const why = toLine(truncate(await response.text(), LONGEST_REASON))
  if (status === 404 || status === 410) return { kind: 'gone' }
  return {
    kind: 'failed',
    why: `it answers ${status}${why && `: ${why}`}`,
    waitMs: (Number(headers.get('retry-after')) || 0) * 1_000,
    isFinal: status < 500 && status !== 429,
  }
}

/** Returns the message as JSON that fits into one push; what is cut has no buttons. */
export function toPayload(message: PushMessage): string {
  const { buttons, ...bare } = message
  const isShort = message.text.length <= MOST_WITH_BUTTONS
  const whole = JSON.stringify(isShort ? message : bare)
  if (Buffer.byteLength(whole) <= MOST_BYTES) return whole
  for (let length = message.text.length; ; length = Math.floor(length * 0.8)) {
    const cut = JSON.stringify({ ...bare, text: truncate(message.text, length) })
    if (Buffer.byteLength(cut) <= MOST_BYTES || length === 0) return cut
  }
}

/** Returns the address by which a push service knows whose hub this is. */
export function toSubject(publicUrl: string | undefined): string {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl)
  const isOutside = url?.protocol === 'https:' && !isLoopback(url.hostname) && !INNER.test(url.hostname)
  return isOutside ? url.origin : NOBODY
}
