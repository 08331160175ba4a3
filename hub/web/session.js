/** @import { Approval, ChatState, Clock, Decision, Frame, HubFrame, Link, Mcp, McpError, Message, Outbox, Pending, Picture, Probe, Store } from './types.d.ts' */
import { applyApprovals, applyDeciding, missedDecisions } from './approvals.js'
import { createConnection } from './connection.js'
import { PAGE } from './conversation.js'
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
  EMPTY_CHAT,
  subscriptions,
} from './conversation-store.js'
import { createStore } from './store.js'

/**
 * Creates one token's session with the hub: the connection, the state that its frames add up to, and a
 * person's actions.
 * @param {object} parts
 * @param {() => WebSocket} parts.openSocket
 * @param {Mcp} parts.mcp
 * @param {Outbox} parts.outbox
 * @param {Clock} parts.clock
 * @param {() => number} parts.random
 * @param {() => string} parts.newId
 * @param {(run: () => void) => void} parts.schedule runs once, soon, in time for the next frame on the screen
 * @param {() => void} [parts.onWelcome] after each (re)connection
 * @param {() => void} [parts.onNews] after each change of data that the panel shows
 */
export function createSession(parts) {
  const { mcp, outbox, clock } = parts
  /** @type {Store<ChatState>} */
  const chat = createStore(restoreOutbox(EMPTY_CHAT, outbox.list()))
  /** @type {Store<Link>} */
  const link = createStore(/** @type {Link} */ ({ status: 'connecting', attempt: 1 }))
  const queue = createQueue(parts.schedule, (/** @type {HubFrame[]} */ frames) =>
    chat.set(frames.reduce(reduce, chat.get())),
  )

  const connection = createConnection({
    openSocket: parts.openSocket,
    probe: () => probe(mcp),
    clock,
    random: parts.random,
    onFrame,
    onLink,
  })

  /** @param {ChatState} state @param {HubFrame} frame */
  function reduce(state, frame) {
    return applyFrame(state, frame, clock.now())
  }

  /** @param {Frame} received */
  function onFrame(received) {
    const frame = /** @type {HubFrame} */ (received)
    if (frame.type === 'pong') return
    queue.add(frame)
    if (frame.type === 'accepted') outbox.remove(frame.clientId)
    if (frame.type === 'message' && frame.message.clientId) outbox.remove(frame.message.clientId)
    if (isNews(frame)) parts.onNews?.()
    if (frame.type === 'welcome') resume()
  }

  /** Subscribes first, which brings missed messages, and then sends pending ones. */
  function resume() {
    queue.flush()
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

  /** @param {Link} next */
  function onLink(next) {
    if (link.get().status === 'open' && next.status !== 'open') {
      queue.flush()
      chat.set(applyDisconnect(chat.get()))
    }
    link.set(next)
  }

  /** @param {Pending} pending */
  function transmit({ conversation, text, clientId, images }) {
    connection.send({ type: 'message', conversation, text, clientId, ...(images && { images }) })
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
    /** @param {string} conversation @param {string} text @param {Picture[]} [images] */
    send(conversation, text, images) {
      const pending = {
        clientId: parts.newId(),
        conversation,
        text,
        at: clock.now(),
        ...(images && { images }),
      }
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
    /** Loads the page of messages before the loaded ones; a failure becomes a problem. @param {string} id */
    async loadEarlier(id) {
      const { base } = chat.get().conversations[id]
      const after = Math.max(0, base - PAGE)
      try {
        const older = await readRange(mcp, id, after, base)
        chat.set(applyEarlier(chat.get(), id, older, after))
      } catch (error) {
        const text = `Earlier messages could not be loaded. ${reasonOf(error)}`
        chat.set(applyProblem(chat.get(), text, clock.now()))
      }
    },
    /**
     * Sends a person's answer; returns false where there is no link.
     * @param {string} id @param {Decision} decision @param {string} note
     */
    decide(id, decision, note) {
      const frame = { type: 'decide', approval: id, decision, ...(note.trim() && { note: note.trim() }) }
      if (!connection.send(frame)) return false
      chat.set(applyDeciding(chat.get(), id, decision))
      return true
    },
    /**
     * Ends a conversation's running work at its next boundary; returns false where there is no link.
     * @param {string} conversation
     */
    stopWork(conversation) {
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

/** Tells whether the panel shows what a frame changes. @param {HubFrame} frame */
function isNews(frame) {
  return (
    ['agent', 'approval'].includes(frame.type) || (frame.type === 'message' && frame.message.kind === 'error')
  )
}

/** @param {unknown} error */
function reasonOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/** @param {Mcp} mcp @param {{status?: string}} [filter] */
async function listApprovals(mcp, filter) {
  /** @type {{approvals?: Approval[]}} */
  const { approvals = [] } = await mcp.call('hub_list_approvals', filter)
  return approvals
}

/**
 * Reads the messages in (after, upTo], in as many requests as the hub's limit needs.
 * @param {Mcp} mcp @param {string} conversation @param {number} after @param {number} upTo
 */
async function readRange(mcp, conversation, after, upTo) {
  /** @type {Message[]} */
  const found = []
  let cursor = after
  while (cursor < upTo) {
    const range = { conversation, after: cursor, limit: upTo - cursor }
    /** @type {{messages?: Message[]}} */
    const { messages = [] } = await mcp.call('hub_read_messages', range)
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

/**
 * Finds out why a socket failed, which the page is not told, by a plain request with the same token.
 * @param {Mcp} mcp @returns {Promise<Probe>}
 */
async function probe(mcp) {
  try {
    await mcp.discover()
    return 'no-socket'
  } catch (error) {
    const { kind } = /** @type {McpError} */ (error)
    return kind === 'unauthorized' || kind === 'forbidden' ? kind : 'unreachable'
  }
}

/**
 * Collects items until the next turn, so that a burst of frames costs one rendering.
 * @template Item
 * @param {(run: () => void) => void} schedule @param {(items: Item[]) => void} consume
 */
function createQueue(schedule, consume) {
  /** @type {Item[]} */
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
    /** @param {Item} item */
    add(item) {
      items.push(item)
      if (scheduled) return
      scheduled = true
      schedule(flush)
    },
  }
}
