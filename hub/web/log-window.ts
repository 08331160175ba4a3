import { type Message, PAGE } from './conversation.ts'

/** Most messages that are drawn, however many are loaded. */
export const DRAWN = 500
/** Messages by which the window moves at the end: it does not move with every message. */
const STRIDE = 100

/** The range of loaded messages that are drawn: those with a seq in [from, to]. `to` null means: to the end. */
export type LogWindow = { from: number; to: number | null }

export const WHOLE: LogWindow = { from: 0, to: null }

export function drawn(messages: Message[], window: LogWindow) {
  const { from, to } = window
  const first = messages.findIndex(message => message.seq >= from)
  if (first < 0) return []
  if (first === 0 && to === null) return messages
  return messages.slice(first, lastIndex(messages, window))
}

/** Drops old messages from the window as new ones come, while the reader is at the end. */
export function follow(messages: Message[], window: LogWindow) {
  const shown = drawn(messages, window).length
  return window.to === null && shown > DRAWN + STRIDE ? atEnd(messages) : window
}

/** Replaces a window behind all messages: it belongs to a history that is gone. */
export function within(messages: Message[], window: LogWindow) {
  return window.from > (messages[messages.length - 1]?.seq ?? 0) ? WHOLE : window
}

/** Returns the window of the last messages. */
export function atEnd(messages: Message[]): LogWindow {
  return { from: messages[Math.max(0, messages.length - DRAWN)]?.seq ?? 0, to: null }
}

/** Moves the window back by a page; messages at its end that no longer fit leave it. */
export function earlier(messages: Message[], window: LogWindow): LogWindow {
  const first = Math.max(0, firstIndex(messages, window) - PAGE)
  return between(messages, first, Math.min(messages.length, lastIndex(messages, window), first + DRAWN))
}

/** Moves on by a page. */
export function later(messages: Message[], window: LogWindow): LogWindow {
  const end = Math.min(messages.length, lastIndex(messages, window) + PAGE)
  return between(messages, Math.max(firstIndex(messages, window), end - DRAWN), end)
}

/** Returns the window around the message with this number, or the next one. */
export function around(messages: Message[], seq: number): LogWindow {
  const at = Math.max(
    0,
    messages.findIndex(message => message.seq >= seq),
  )
  return between(messages, Math.max(0, at - DRAWN / 2), Math.min(messages.length, at + DRAWN / 2))
}

/** Tells whether messages precede the window. */
export function hasEarlier(messages: Message[], window: LogWindow) {
  return firstIndex(messages, window) > 0
}

function firstIndex(messages: Message[], { from }: LogWindow) {
  return Math.max(
    0,
    messages.findIndex(message => message.seq >= from),
  )
}

function lastIndex(messages: Message[], { to }: LogWindow) {
  return to === null ? messages.length : messages.findLastIndex(message => message.seq <= to) + 1
}

function between(messages: Message[], first: number, end: number): LogWindow {
  const to = end >= messages.length ? null : (messages[end - 1]?.seq ?? null)
  return { from: messages[first]?.seq ?? 0, to }
}
