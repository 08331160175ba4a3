/** @import { Message } from './types.d.ts' */
import { PAGE } from './conversation.js'

/** Most messages that are drawn, however many are loaded. */
export const DRAWN = 500
/** Messages by which the window moves at the end: it does not move with every message. */
const STRIDE = 100

/**
 * The range of loaded messages that are drawn: those with a seq in [from, to]. `to` null means: to the end.
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

/**
 * Drops old messages from the window as new ones come, while the reader is at the end.
 * @param {Message[]} messages @param {LogWindow} window
 */
export function follow(messages, window) {
  const shown = drawn(messages, window).length
  return window.to === null && shown > DRAWN + STRIDE ? atEnd(messages) : window
}

/**
 * Replaces a window behind all messages: it belongs to a history that is gone.
 * @param {Message[]} messages @param {LogWindow} window
 */
export function within(messages, window) {
  return window.from > (messages[messages.length - 1]?.seq ?? 0) ? WHOLE : window
}

/** Returns the window of the last messages. @param {Message[]} messages @returns {LogWindow} */
export function atEnd(messages) {
  return { from: messages[Math.max(0, messages.length - DRAWN)]?.seq ?? 0, to: null }
}

/**
 * Moves the window back by a page; messages at its end that no longer fit leave it.
 * @param {Message[]} messages @param {LogWindow} window @returns {LogWindow}
 */
export function earlier(messages, window) {
  const first = Math.max(0, firstIndex(messages, window) - PAGE)
  return between(messages, first, Math.min(messages.length, lastIndex(messages, window), first + DRAWN))
}

/** Moves on by a page. @param {Message[]} messages @param {LogWindow} window @returns {LogWindow} */
export function later(messages, window) {
  const end = Math.min(messages.length, lastIndex(messages, window) + PAGE)
  return between(messages, Math.max(firstIndex(messages, window), end - DRAWN), end)
}

/** Tells whether messages precede the window. @param {Message[]} messages @param {LogWindow} window */
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
