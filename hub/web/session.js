/** @import { ChatState, Clock, Link, Pending, Probe, Store } from './types.d.ts' */
import { createConnection } from './connection.js'
import { PAGE } from './conversation.js'
import {
  applyDiscard,
  applyDisconnect,
  applyEarlier,
  applyFrame,
  applyOpen,
  applyProblem,
  applyRetry,
  applySend,
  EMPTY_CHAT,
  subscriptions,
} from './conversation-store.js'
import { createStore } from './store.js'

/**
 * One token's talk with the hub: the connection, the state that its frames add up to, and what a person does to it.
 * @param {object} parts
 * @param {() => WebSocket} parts.openSocket
 * @param {{call: (name: string, args?: Record<string, unknown>) => Promise<any>, discover: () => Promise<unknown>}} parts.mcp
 * @param {{put: (pending: Pending) => void, remove: (clientId: string) => void, list: () => Pending[]}} parts.outbox
 * @param {Clock} parts.clock
 * @param {() => number} parts.random
 * @param {() => string} parts.newId
 * @param {(run: () => void) => void} parts.schedule runs once, soon, in time for the next frame on the screen
 * @param {() => void} [parts.onWelcome] after each (re)connection
 * @param {() => void} [parts.onAgents] after each change of an agent's state
 */
export function createSession(parts) {
  const { mcp, outbox, clock } = parts
  /** @type {Store<ChatState>} */
  const chat = createStore(restoreOutbox(EMPTY_CHAT, outbox.list()))
  /** @type {Store<Link>} */
  const link = createStore(/** @type {Link} */ ({ status: 'connecting', attempt: 1 }))
  const queue = createQueue(parts.schedule, frames => chat.set(frames.reduce(reduce, chat.get())))

  const connection = createConnection({
    openSocket: parts.openSocket,
    probe: () => probe(mcp),
    clock,
    random: parts.random,
    onFrame,
    onLink,
  })

  /** @param {ChatState} state @param {any} frame */
  function reduce(state, frame) {
    return applyFrame(state, frame, clock.now())
  }

  /** @param {any} frame */
  function onFrame(frame) {
    if (frame.type === 'pong') return
    queue.add(frame)
    if (frame.type === 'accepted') outbox.remove(frame.clientId)
    if (frame.type === 'message' && frame.message.clientId) outbox.remove(frame.message.clientId)
    if (frame.type === 'agent') parts.onAgents?.()
    if (frame.type === 'welcome') resume()
  }

  /** What was missed comes first, then what is still to be said goes out. */
  function resume() {
    queue.flush()
    for (const frame of subscriptions(chat.get())) connection.send(frame)
    for (const pending of allPending(chat.get())) if (pending.refused === undefined) transmit(pending)
    parts.onWelcome?.()
  }

  /** @param {Link} next */
  function onLink(next) {
    if (link.get().status === 'open' && next.status !== 'open') {
      queue.flush()
      chat.set(applyDisconnect(chat.get()))
    }
    link.set(next)
  }

  /** @param {Pending} pending */
  function transmit({ conversation, text, clientId }) {
    connection.send({ type: 'message', conversation, text, clientId })
  }

  return {
    chat,
    link,
    start: connection.start,
    wake: connection.wake,
    stop: connection.stop,
    /** @param {string} id */
    open(id) {
      const known = chat.get().conversations[id]
      if (known?.opened) return
      chat.set(applyOpen(chat.get(), id))
      const after = chat.get().conversations[id].seen
      connection.send({ type: 'subscribe', conversation: id, after })
    },
    /** @param {string} conversation @param {string} text */
    send(conversation, text) {
      const pending = { clientId: parts.newId(), conversation, text, at: clock.now() }
      outbox.put(pending)
      chat.set(applySend(chat.get(), pending))
      transmit(pending)
    },
    /** @param {Pending} pending */
    retry(pending) {
      chat.set(applyRetry(chat.get(), pending))
      transmit(pending)
    },
    /** @param {Pending} pending */
    discard(pending) {
      outbox.remove(pending.clientId)
      chat.set(applyDiscard(chat.get(), pending))
    },
    /** The page of messages before those that are loaded; a failure shows as a problem. @param {string} id */
    async loadEarlier(id) {
      const { base } = chat.get().conversations[id]
      const after = Math.max(0, base - PAGE)
      try {
        const older = await readRange(mcp, id, after, base)
        chat.set(applyEarlier(chat.get(), id, older, after))
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        chat.set(applyProblem(chat.get(), `Earlier messages could not be loaded. ${reason}`, clock.now()))
      }
    },
    dismissProblem() {
      chat.set(applyProblem(chat.get(), null, clock.now()))
    },
  }
}

/** The messages in (after, upTo], in as many requests as the hub's own limit needs. */
async function readRange(mcp, conversation, after, upTo) {
  const found = []
  let cursor = after
  while (cursor < upTo) {
    const { messages = [] } = await mcp.call('hub_read_messages', {
      conversation,
      after: cursor,
      limit: upTo - cursor,
    })
    if (messages.length === 0) break
    cursor = messages[messages.length - 1].seq
    found.push(...messages.filter(message => message.seq <= upTo))
  }
  return found
}

/** @param {ChatState} state */
function allPending(state) {
  return Object.values(state.conversations)
    .flatMap(c => c.pending)
    .sort((a, b) => a.at - b.at)
}

/** @param {ChatState} state @param {Pending[]} list */
function restoreOutbox(state, list) {
  return list.reduce(applySend, state)
}

/** A socket that fails tells a page nothing; a plain request with the same token does. @returns {Promise<Probe>} */
async function probe(mcp) {
  try {
    await mcp.discover()
    return 'no-socket'
  } catch (error) {
    const { kind } = /** @type {import('./mcp.js').McpError} */ (error)
    return kind === 'unauthorized' || kind === 'forbidden' ? kind : 'unreachable'
  }
}

/** Collects items until the next turn, so that a burst of frames costs one rendering. */
function createQueue(schedule, consume) {
  let items = []
  let scheduled = false
  function flush() {
    scheduled = false
    const batch = items
    items = []
    if (batch.length > 0) consume(batch)
  }
  return {
    flush,
    add(item) {
      items.push(item)
      if (scheduled) return
      scheduled = true
      schedule(flush)
    },
  }
}
