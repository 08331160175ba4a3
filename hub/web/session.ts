import type { Approval, HubFrame } from '../../schemas/chat.ts'
import { applyApprovals, applyDeciding, type Decision, missedDecisions } from './approvals.ts'
import type { Clock } from './clock.ts'
import { createConnection, type Link, type Probe } from './connection.ts'
import { type Beside, type Message, PAGE, type Pending } from './conversation.ts'
import { createConversationChanges } from './conversation-changes.ts'
import {
  applyDiscard,
  applyDisconnect,
  applyEarlier,
  applyFrame,
  applyOpen,
  applyProblem,
  applyReleased,
  applyRetry,
  applySend,
  type ChatState,
  EMPTY_CHAT,
  subscriptions,
} from './conversation-store.ts'
import type { Files } from './files.ts'
import { type Mcp, type McpError, reasonOf } from './mcp.ts'
import type { Outbox } from './outbox.ts'
import { createStore } from './store.ts'

interface SessionParts {
  openSocket: () => WebSocket
  mcp: Mcp
  files: Files
  outbox: Outbox
  clock: Clock
  random: () => number
  newId: () => string
  /** Runs it once, soon, in time for the next frame on the screen. */
  schedule: (run: () => void) => void
  /** Called after each (re)connection. */
  onWelcome?: () => void
  /** Called after each change of data that the panel shows. */
  onNews?: () => void
}

export type Session = ReturnType<typeof createSession>

/**
 * Creates one token's session with the hub: the connection, the state that its frames add up to, and a
 * person's actions.
 */
export function createSession(parts: SessionParts) {
  const { mcp, outbox, clock } = parts
  const chat = createStore(outbox.list().reduce(applySend, EMPTY_CHAT))
  const link = createStore<Link>({ status: 'connecting', attempt: 1 })
  /** Frames that the state does not have yet: a burst costs one rendering. */
  let queued: HubFrame[] = []

  const connection = createConnection({
    openSocket: parts.openSocket,
    probe: () => probe(mcp),
    clock,
    random: parts.random,
    onFrame,
    onLink,
  })

  function flush() {
    const frames = queued
    queued = []
    chat.set(frames.reduce((state, frame) => applyFrame(state, frame, clock.now()), chat.get()))
  }

  function onFrame(frame: HubFrame) {
    if (frame.type === 'pong') return
    if (queued.push(frame) === 1) parts.schedule(flush)
    if (frame.type === 'accepted' && frame.clientId) outbox.remove(frame.clientId)
    if (frame.type === 'message' && frame.message.clientId) outbox.remove(frame.message.clientId)
    if (frame.type === 'conversation') followNew(frame.conversation.id)
    if (isNews(frame)) parts.onNews?.()
    if (frame.type === 'welcome') resume()
  }

  /** Subscribes to a conversation that was begun elsewhere. */
  function followNew(id: string) {
    if (chat.get().conversations[id]) return
    flush()
    connection.send({ type: 'subscribe', conversation: id, after: chat.get().conversations[id]?.seen })
  }

  /** Subscribes first, which brings missed messages, and then sends pending ones. */
  function resume() {
    flush()
    for (const frame of subscriptions(chat.get())) connection.send(frame)
    for (const pending of allPending(chat.get())) if (pending.refused === undefined) transmit(pending)
    parts.onWelcome?.()
    void readApprovals()
  }

  /** Reads the open approvals, and the outcome of those that this page still shows as open. */
  async function readApprovals() {
    try {
      const open = await listApprovals(mcp, { status: 'open' })
      const missed = missedDecisions(chat.get(), open)
      const decided = missed.length > 0 ? await listApprovals(mcp) : []
      const relevant = decided.filter(one => missed.includes(one.id))
      chat.set(applyApprovals(chat.get(), [...open, ...relevant]))
    } catch (error) {
      // The next link reads them again.
      if (link.get().status !== 'open') return
      chat.set(applyProblem(chat.get(), `Open approvals could not be read. ${reasonOf(error)}`, clock.now()))
    }
  }

  function onLink(next: Link) {
    if (link.get().status === 'open' && next.status !== 'open') {
      flush()
      chat.set(applyDisconnect(chat.get()))
    }
    link.set(next)
  }

  function transmit({ conversation, text, clientId, images, files = [] }: Pending) {
    const { timeZone: timezone } = new Intl.DateTimeFormat().resolvedOptions()
    const ids = files.map(({ id }) => id)
    const beside = { ...(images && { images }), ...(ids.length > 0 && { files: ids }) }
    connection.send({ type: 'message', conversation, text, clientId, timezone, ...beside })
  }

  return {
    chat,
    link,
    files: parts.files,
    start: connection.start,
    wake: connection.wake,
    stop: connection.stop,
    conversations: createConversationChanges({ mcp, clock, chat }),
    open(id: string) {
      if (chat.get().conversations[id]?.opened) return
      chat.set(applyOpen(chat.get(), id))
      connection.send({ type: 'subscribe', conversation: id, after: chat.get().conversations[id]?.seen })
    },
    /** Tells which conversation the person looks at; null for none. */
    look(conversation: string | null) {
      connection.send({ type: 'look', conversation })
    },
    send(conversation: string, text: string, beside: Beside = {}) {
      const pending = {
        clientId: parts.newId(),
        conversation,
        text,
        at: clock.now(),
        ...beside,
      }
      outbox.put(pending)
      chat.set(applySend(chat.get(), pending))
      transmit(pending)
    },
    retry(pending: Pending) {
      chat.set(applyRetry(chat.get(), pending))
      transmit(pending)
    },
    discard(pending: Pending) {
      outbox.remove(pending.clientId)
      chat.set(applyDiscard(chat.get(), pending))
    },
    /** Loads the page of messages before the loaded ones, or all from `seq` on; a failure becomes a problem. */
    async loadEarlier(id: string, seq = Infinity) {
      const base = chat.get().conversations[id]?.base ?? 0
      const after = Math.max(0, Math.min(base - PAGE, seq - PAGE / 2))
      try {
        const older = await readRange(mcp, id, after, base)
        chat.set(applyEarlier(chat.get(), id, older, after))
      } catch (error) {
        const text = `Earlier messages could not be loaded. ${reasonOf(error)}`
        chat.set(applyProblem(chat.get(), text, clock.now()))
      }
    },
    /** Sends a person's answer; returns false where there is no link. */
    /** Answers an approval; `always` is the span for which a yes holds for further calls, '' for this one alone. */
    decide(id: string, decision: Decision, note: string, always = '') {
      const words = note.trim() && { note: note.trim() }
      const span = decision === 'approve' && always && { always }
      if (!connection.send({ type: 'decide', approval: id, decision, ...words, ...span })) return false
      chat.set(applyDeciding(chat.get(), id, decision))
      return true
    },
    /** Ends a conversation's running work at its next boundary; returns false where there is no link. */
    stopWork(conversation: string) {
      return connection.send({ type: 'stop', conversation })
    },
    /** Notes that a person released the held agents. */
    release() {
      chat.set(applyReleased(chat.get()))
    },
    dismissProblem() {
      chat.set(applyProblem(chat.get(), null, clock.now()))
    },
  }
}

/** Tells whether the panel shows what a frame changes. */
function isNews(frame: HubFrame) {
  return (
    ['agent', 'approval', 'changed'].includes(frame.type) ||
    (frame.type === 'message' && frame.message.kind === 'error')
  )
}

async function listApprovals(mcp: Mcp, filter?: { status?: string }) {
  const { approvals = [] }: { approvals?: Approval[] } = await mcp.call('hub_list_approvals', filter)
  return approvals
}

/** Reads the messages in (after, upTo], in as many requests as the hub's limit needs. */
async function readRange(mcp: Mcp, conversation: string, after: number, upTo: number) {
  const found: Message[] = []
  let cursor = after
  while (cursor < upTo) {
    const range = { conversation, after: cursor, limit: Math.min(upTo - cursor, 1_000) }
    const { messages = [] }: { messages?: Message[] } = await mcp.call('hub_read_messages', range)
    const last = messages.at(-1)
    if (!last) break
    cursor = last.seq
    found.push(...messages.filter(message => message.seq <= upTo))
  }
  return found
}

function allPending(state: ChatState) {
  return Object.values(state.conversations)
    .flatMap(c => c.pending)
    .sort((a, b) => a.at - b.at)
}

/** Finds out why a socket failed, which the page is not told, by a plain request with the same token. */
async function probe(mcp: Mcp): Promise<Probe> {
  try {
    await mcp.discover()
    return 'no-socket'
  } catch (error) {
    const { kind } = error as McpError
    return kind === 'unauthorized' || kind === 'forbidden' ? kind : 'unreachable'
  }
}
