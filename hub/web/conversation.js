/** @import { Call, Conversation, LiveCycle, Message, Pending } from './types.d.ts' */

/** Messages that are fetched at a time. */
export const PAGE = 200

/**
 * Creates a conversation that nobody has opened: only its future messages matter.
 * @param {string} id @param {string[]} agents @param {number} lastSeq
 * @returns {Conversation}
 */
export function createConversation(id, agents, lastSeq) {
  return {
    id,
    agents,
    lastSeq,
    base: lastSeq,
    seen: lastSeq,
    reached: lastSeq,
    target: lastSeq,
    opened: false,
    messages: [],
    pending: [],
    live: [],
  }
}

/** Opens it for reading: the next subscription brings its last page too. @param {Conversation} c */
export function openForReading(c) {
  if (c.opened) return c
  const base = Math.max(0, c.lastSeq - PAGE)
  return { ...c, opened: true, base, seen: base, target: c.lastSeq }
}

/**
 * Notes that the hub follows the conversation. A lower number than was seen means another history: the
 * conversation was deleted, and begins anew.
 * @param {Conversation} c @param {number} lastSeq
 * @returns {Conversation}
 */
export function subscribed(c, lastSeq) {
  if (lastSeq >= c.seen) return { ...c, lastSeq: Math.max(c.lastSeq, lastSeq), target: lastSeq }
  return { ...createConversation(c.id, c.agents, lastSeq), opened: c.opened, pending: c.pending }
}

/** Tells whether all backlog has arrived. @param {Conversation} c */
export function isCaughtUp(c) {
  return c.opened && c.seen >= c.target
}

/**
 * Adds a message. A subscription sends messages in order, so that each proves that all before it came; an
 * `accepted` answer may overtake the backlog and proves nothing (`ordered` false).
 * @param {Conversation} c @param {Message} message @param {boolean} ordered
 * @returns {Conversation}
 */
export function addMessage(c, message, ordered) {
  const { seq } = message
  const messages = insert(c.messages, message)
  const seen = ordered ? Math.max(c.seen, seq) : seq === c.seen + 1 ? seq : c.seen
  const isNews = seq > c.reached
  return {
    ...c,
    messages,
    seen,
    lastSeq: Math.max(c.lastSeq, seq),
    reached: Math.max(c.reached, seq),
    pending: withoutPending(c.pending, message.clientId),
    live: isNews ? endLive(c.live, message) : c.live,
  }
}

/**
 * Adds a page of older messages, all up to `c.base`.
 * @param {Conversation} c @param {Message[]} older @param {number} base
 */
export function prependMessages(c, older, base) {
  const messages = older.reduce(insert, c.messages)
  return { ...c, messages, base: Math.min(c.base, base) }
}

/** @param {Message[]} messages by seq @param {Message} message @returns {Message[]} the same array for a repeat */
function insert(messages, message) {
  let at = messages.length
  while (at > 0 && messages[at - 1].seq > message.seq) at -= 1
  if (at > 0 && messages[at - 1].seq === message.seq) return messages
  return [...messages.slice(0, at), message, ...messages.slice(at)]
}

/** @param {Conversation} c @param {string} cycle @param {string} text @returns {Conversation} */
export function addDelta(c, cycle, text) {
  return withLive(c, cycle, live => ({
    ...live,
    text: live.restart ? text : live.text + text,
    restart: false,
  }))
}

/**
 * Adds a tool call's state. Text before a call is not part of the answer, so the next text begins anew.
 * @param {Conversation} c @param {string} cycle @param {Call} call
 * @returns {Conversation}
 */
export function addCall(c, cycle, call) {
  if (isDurableCall(c.messages, call.id)) return c
  return withLive(c, cycle, live => {
    const known = live.calls.some(other => other.id === call.id)
    const calls = known
      ? live.calls.map(other => (other.id === call.id ? { ...other, ...call } : other))
      : [...live.calls, call]
    return { ...live, calls, restart: live.restart || !known }
  })
}

/** Tells whether a call ended; a waiting one will resume. @param {Message[]} messages @param {string} call */
function isDurableCall(messages, call) {
  return messages
    .slice(-PAGE)
    .some(({ kind, data }) => kind === 'tool' && data?.call === call && data.status !== 'waiting')
}

/** @param {Conversation} c @param {string} cycle @param {(live: LiveCycle) => LiveCycle} change */
function withLive(c, cycle, change) {
  const known = c.live.find(live => live.cycle === cycle)
  if (known) return { ...c, live: c.live.map(live => (live === known ? change(live) : live)) }
  return { ...c, live: [...c.live, change({ cycle, text: '', restart: false, calls: [] })] }
}

/** Removes live parts that a durable message replaces. @param {LiveCycle[]} live @param {Message} message */
function endLive(live, message) {
  if (message.kind === 'tool') return dropCall(live, message.data?.call)
  if (message.kind === 'error') return live.map(entry => ({ ...entry, restart: true }))
  if (message.kind !== 'agent') return live
  const ended = liveOf(live, message)
  return live.filter(entry => entry !== ended)
}

/**
 * Returns the cycle whose final text this message is: the one that the frames name, else the one with this
 * text, else the only one.
 * @param {LiveCycle[]} live @param {Message} message
 */
function liveOf(live, message) {
  const cycle = message.data?.cycle
  if (cycle !== undefined) return live.find(entry => entry.cycle === String(cycle))
  const text = message.text.trim()
  const same = live.find(entry => {
    const shown = entry.text.trim()
    return shown !== '' && (text.startsWith(shown) || shown.endsWith(text))
  })
  return same ?? (live.length === 1 ? live[0] : undefined)
}

/** @param {LiveCycle[]} live @param {string | undefined} call */
function dropCall(live, call) {
  if (!live.some(entry => entry.calls.some(other => other.id === call))) return live
  return live
    .map(entry => ({ ...entry, calls: entry.calls.filter(other => other.id !== call) }))
    .filter(entry => entry.text !== '' || entry.calls.length > 0)
}

/** Removes all live cycles: none runs any more. @param {Conversation} c */
export function settle(c) {
  return c.live.length === 0 ? c : { ...c, live: [] }
}

/** Marks live texts to begin anew: the link broke, and deltas were missed. @param {Conversation} c */
export function interrupt(c) {
  return c.live.length === 0 ? c : { ...c, live: c.live.map(live => ({ ...live, restart: true })) }
}

/** @param {Conversation} c @param {Pending} pending @returns {Conversation} */
export function addPending(c, pending) {
  return { ...c, pending: [...withoutPending(c.pending, pending.clientId), pending] }
}

/** @param {Conversation} c @param {string} clientId @param {string | undefined} reason undefined: not refused */
export function refusePending(c, clientId, reason) {
  const pending = c.pending.map(one => {
    if (one.clientId !== clientId) return one
    const { refused: _, ...rest } = one
    return reason === undefined ? rest : { ...rest, refused: reason }
  })
  return { ...c, pending }
}

/** @param {Conversation} c @param {string} clientId @returns {Conversation} */
export function removePending(c, clientId) {
  return { ...c, pending: withoutPending(c.pending, clientId) }
}

/** @param {Pending[]} pending @param {string | undefined} clientId */
function withoutPending(pending, clientId) {
  return pending.some(one => one.clientId === clientId)
    ? pending.filter(one => one.clientId !== clientId)
    : pending
}
