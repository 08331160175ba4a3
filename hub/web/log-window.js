/** @import { Message } from './types.d.ts' */
import { PAGE } from './conversation.js'

/** How many messages are drawn at most, whatever is loaded. */
export const DRAWN = 500
/** At the end the window moves in strides, not with every message. */
const STRIDE = 100

/**
 * Which of the loaded messages are drawn: those with a seq in [from, to]. `to` null means: to the end.
 * @typedef {{from: number, to: number | null}} LogWindow
 */

/** @type {LogWindow} */
export const WHOLE = { from: 0, to: null }

/** @param {Message[]} messages @param {LogWindow} window */
export function drawn(messages, { from, to }) {
  const first = messages.findIndex(message => message.seq >= from)
  if (first < 0) return []
  if (first === 0 && to === null) return messages
  const last = to === null ? messages.length : messages.findLastIndex(message => message.seq <= to) + 1
  return messages.slice(first, last)
}

/** While the reader is at the end: old messages leave the window as new ones come. @param {Message[]} messages @param {LogWindow} window */
export function follow(messages, window) {
  const shown = drawn(messages, window).length
  return window.to === null && shown > DRAWN + STRIDE ? atEnd(messages) : window
}

/** One that lies behind all messages belongs to a history that is gone. @param {Message[]} messages @param {LogWindow} window */
export function within(messages, window) {
  return window.from > (messages[messages.length - 1]?.seq ?? 0) ? WHOLE : window
}

/** The last messages. @param {Message[]} messages @returns {LogWindow} */
export function atEnd(messages) {
  return { from: messages[Math.max(0, messages.length - DRAWN)]?.seq ?? 0, to: null }
}

/** A page further back; what no longer fits leaves at the end. @param {Message[]} messages @param {LogWindow} window @returns {LogWindow} */
export function earlier(messages, window) {
  const first = Math.max(0, firstIndex(messages, window) - PAGE)
  return between(messages, first, Math.min(messages.length, lastIndex(messages, window), first + DRAWN))
}

/** A page further on. @param {Message[]} messages @param {LogWindow} window @returns {LogWindow} */
export function later(messages, window) {
  const end = Math.min(messages.length, lastIndex(messages, window) + PAGE)
  return between(messages, Math.max(firstIndex(messages, window), end - DRAWN), end)
}

/** True where loaded messages stand before the window. @param {Message[]} messages @param {LogWindow} window */
export function hasEarlier(messages, window) {
  return firstIndex(messages, window) > 0
}

/** @param {Message[]} messages @param {LogWindow} window */
function firstIndex(messages, { from }) {
  return Math.max(
    0,
    messages.findIndex(message => message.seq >= from),
  )
}

/** @param {Message[]} messages @param {LogWindow} window */
function lastIndex(messages, { to }) {
  return to === null ? messages.length : messages.findLastIndex(message => message.seq <= to) + 1
}

/** @param {Message[]} messages @param {number} first @param {number} end @returns {LogWindow} */
function between(messages, first, end) {
  return { from: messages[first]?.seq ?? 0, to: end >= messages.length ? null : messages[end - 1].seq }
}
