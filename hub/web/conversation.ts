import type { ChatMessage, ClientFrame, ConversationEntry, HubFrame } from '../../schemas/chat.ts'
import type { FileEntry } from '../../schemas/files.ts'
import type { Power } from '../../schemas/power.ts'

/** A picture of a message; `data` is base64. */
export type Picture = NonNullable<Extract<ClientFrame, { type: 'message' }>['images']>[number]

/** What a person sends beside a text. */
export interface Beside {
  images?: Picture[]
  files?: FileEntry[]
}

/** A durable message, with what this page shows of its data. */
export interface Message extends ChatMessage {
  data?: {
    images?: Picture[]
    files?: FileEntry[]
    cycle?: string
    call?: string
    tool?: string
    status?: string
    arguments?: string
    attempt?: number
    of?: number
    retryAt?: number
    retryable?: boolean
    /** True where the provider cannot be reached: the cycle resumes by itself once it can. */
    parked?: boolean
    /** Id of the dead letter that a failure became. */
    deadLetter?: string
    /** Power of the work that led to it, where that is below the house's own. */
    power?: Power
    /** Id of the approval that a call waits for. */
    approval?: string
    /** End of an allowance that was given beside a yes. */
    allowedUntil?: number
  }
}

/** A tool call that has no durable message yet. */
export type Call = Extract<HubFrame, { type: 'tool' }>['call']

/** The visible state of a running cycle. `restart`: the next delta begins a new text. */
export interface LiveCycle {
  cycle: string
  text: string
  restart: boolean
  calls: Call[]
}

/** A message of this browser that the hub has not acknowledged. `refused` holds the hub's reason. */
export interface Pending extends Beside {
  clientId: string
  conversation: string
  text: string
  at: number
  refused?: string
}

export interface Conversation {
  id: string
  agents: string[]
  /** Title of the hub's list; undefined where the id says what it is about. */
  title: string | undefined
  pinned: boolean
  /** Time of the newest message, 0 where there is none. */
  lastAt: number
  /** True once it was deleted, until somebody writes in it again. */
  deleted: boolean
  /** Newest sequence number that the hub reported. */
  lastSeq: number
  /** Messages up to here are not loaded (0: all are). */
  base: number
  /** Number after which a subscription resumes: everything in (base, seen] was delivered. */
  seen: number
  /** Newest number that was applied: an older message is history and ends nothing that is live. */
  reached: number
  /** Number up to which arriving messages are backlog. */
  target: number
  opened: boolean
  messages: Message[]
  pending: Pending[]
  live: LiveCycle[]
}

/** Messages that are fetched at a time. */
export const PAGE = 200

/** Creates a conversation that nobody has opened: only its future messages matter. */
export function createConversation(id: string, agents: string[], lastSeq: number): Conversation {
  return {
    id,
    agents,
    title: undefined,
    pinned: false,
    lastAt: 0,
    deleted: false,
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

/** Takes over what the hub's list says of it. */
export function withEntry(c: Conversation, { agents, title, pinned, lastAt = 0 }: ConversationEntry) {
  return { ...c, agents, title, pinned: pinned === true, lastAt: Math.max(c.lastAt, lastAt) }
}

/** Opens it for reading: the next subscription brings its last page too. */
export function openForReading(c: Conversation) {
  if (c.opened) return c
  const base = Math.max(0, c.lastSeq - PAGE)
  return { ...c, opened: true, base, seen: base, target: c.lastSeq }
}

/**
 * Notes that the hub follows the conversation. A lower number than was seen means another history: the
 * conversation was deleted, and begins anew.
 */
export function subscribed(c: Conversation, lastSeq: number): Conversation {
  if (lastSeq >= c.seen) return { ...c, lastSeq: Math.max(c.lastSeq, lastSeq), target: lastSeq }
  const { opened, pending } = c
  return { ...createConversation(c.id, c.agents, lastSeq), opened, pending, deleted: lastSeq === 0 }
}

/** Tells whether all backlog has arrived. */
export function isCaughtUp(c: Conversation) {
  return c.opened && c.seen >= c.target
}

/**
 * Adds a message. A subscription sends messages in order, so that each proves that all before it came; an
 * `accepted` answer may overtake the backlog and proves nothing (`ordered` false).
 */
export function addMessage(c: Conversation, message: Message, ordered: boolean): Conversation {
  const { seq } = message
  const messages = insert(c.messages, message)
  const seen = ordered ? Math.max(c.seen, seq) : seq === c.seen + 1 ? seq : c.seen
  const isNews = seq > c.reached
  return {
    ...c,
    messages,
    seen,
    lastSeq: Math.max(c.lastSeq, seq),
    lastAt: Math.max(c.lastAt, message.at),
    deleted: false,
    reached: Math.max(c.reached, seq),
    pending: withoutPending(c.pending, message.clientId),
    live: isNews ? endLive(c.live, message) : c.live,
  }
}

/** Adds a page of older messages, all up to `c.base`. */
export function prependMessages(c: Conversation, older: Message[], base: number) {
  const messages = older.reduce(insert, c.messages)
  return { ...c, messages, base: Math.min(c.base, base) }
}

/** Inserts a message by its number; returns the same array for a repeat. */
function insert(messages: Message[], message: Message): Message[] {
  let at = messages.length
  while ((messages[at - 1]?.seq ?? 0) > message.seq) at -= 1
  return messages[at - 1]?.seq === message.seq ? messages : messages.toSpliced(at, 0, message)
}

export function addDelta(c: Conversation, cycle: string, text: string): Conversation {
  return withLive(c, cycle, live => ({
    ...live,
    text: live.restart ? text : live.text + text,
    restart: false,
  }))
}

/** Adds a tool call's state. Text before a call is not part of the answer, so the next text begins anew. */
export function addCall(c: Conversation, cycle: string, call: Call): Conversation {
  if (isDurableCall(c.messages, call.id)) return c
  return withLive(c, cycle, live => {
    const known = live.calls.some(other => other.id === call.id)
    const calls = known
      ? live.calls.map(other => (other.id === call.id ? { ...other, ...call } : other))
      : [...live.calls, call]
    return { ...live, calls, restart: live.restart || !known }
  })
}

/** Tells whether a call ended; a waiting one will resume. */
function isDurableCall(messages: Message[], call: string) {
  return messages
    .slice(-PAGE)
    .some(({ kind, data }) => kind === 'tool' && data?.call === call && data.status !== 'waiting')
}

function withLive(c: Conversation, cycle: string, change: (live: LiveCycle) => LiveCycle) {
  const known = c.live.find(live => live.cycle === cycle)
  if (known) return { ...c, live: c.live.map(live => (live === known ? change(live) : live)) }
  return { ...c, live: [...c.live, change({ cycle, text: '', restart: false, calls: [] })] }
}

/** Removes live parts that a durable message replaces. */
function endLive(live: LiveCycle[], message: Message) {
  if (message.kind === 'tool') return dropCall(live, message.data?.call)
  if (message.kind === 'error') return live.map(entry => ({ ...entry, restart: true }))
  if (message.kind !== 'agent') return live
  const ended = liveOf(live, message)
  return live.filter(entry => entry !== ended)
}

/**
 * Returns the cycle whose final text this message is: the one that the frames name, else the one with this
 * text, else the only one.
 */
function liveOf(live: LiveCycle[], message: Message) {
  const cycle = message.data?.cycle
  if (cycle !== undefined) return live.find(entry => entry.cycle === cycle)
  const text = message.text.trim()
  const same = live.find(entry => {
    const shown = entry.text.trim()
    return shown !== '' && (text.startsWith(shown) || shown.endsWith(text))
  })
  return same ?? (live.length === 1 ? live[0] : undefined)
}

function dropCall(live: LiveCycle[], call: string | undefined) {
  if (!live.some(entry => entry.calls.some(other => other.id === call))) return live
  return live
    .map(entry => ({ ...entry, calls: entry.calls.filter(other => other.id !== call) }))
    .filter(entry => entry.text !== '' || entry.calls.length > 0)
}

/** Removes all live cycles: none runs any more. */
export function settle(c: Conversation) {
  return c.live.length === 0 ? c : { ...c, live: [] }
}

/** Marks live texts to begin anew: the link broke, and deltas were missed. */
export function interrupt(c: Conversation) {
  return c.live.length === 0 ? c : { ...c, live: c.live.map(live => ({ ...live, restart: true })) }
}

export function addPending(c: Conversation, pending: Pending): Conversation {
  return { ...c, pending: [...withoutPending(c.pending, pending.clientId), pending] }
}

/** Notes why the hub refused a message; without a reason it is sent again. */
export function refusePending(c: Conversation, clientId: string, reason: string | undefined) {
  const pending = c.pending.map(one => {
    if (one.clientId !== clientId) return one
    const { refused: _, ...rest } = one
    return reason === undefined ? rest : { ...rest, refused: reason }
  })
  return { ...c, pending }
}

export function removePending(c: Conversation, clientId: string): Conversation {
  return { ...c, pending: withoutPending(c.pending, clientId) }
}

function withoutPending(pending: Pending[], clientId: string | undefined) {
  return pending.some(one => one.clientId === clientId)
    ? pending.filter(one => one.clientId !== clientId)
    : pending
}
