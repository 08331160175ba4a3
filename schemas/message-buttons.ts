import { z } from 'zod'

/**
 * Key in the `_meta` of a call of `send_notification`: buttons of the message. The hub alone sets it, so that no
 * model makes buttons.
 */
export const BUTTONS = 'superbloom/buttons'

/**
 * Key in the `_meta` of a call of `send_notification`: true for a message that takes the place of the channel's earlier one with
 * its `key`, and is not sent where there is none. The hub alone sets it.
 */
export const REPLACES = 'superbloom/replaces'

/** A button: pressing it sends a POST with this body. */
const messageButton = z.strictObject({
  label: z.string().min(1).max(40),
  url: z.url({ protocol: /^https?$/ }),
  body: z.string().max(200),
})
export type MessageButton = z.infer<typeof messageButton>

/** ntfy shows three at most. */
export const messageButtons = z.array(messageButton).max(3)

const KEY_PREFIX = 'sba_'
const KEY = new RegExp(`\\b${KEY_PREFIX}[\\w-]+`, 'g')

/** Returns the key of a button, made from random bytes as base64url. */
export function toButtonKey(random: string): string {
  return KEY_PREFIX + random
}

/** Returns a text without the keys of buttons. */
export function withoutButtonKeys(text: string): string {
  return text.replace(KEY, '***')
}
