/** @import { Agent, ChatState, Conversation, ErrorFrame, Frame, HubFrame, Message, Pending, Told } from './types.d.ts' */
import { applyApproval, applyUndecided } from './approvals.js'
import {
  addCall,
  addDelta,
  addMessage,
  addPending,
  createConversation,
  interrupt,
  openForReading,
  prependMessages,
  refusePending,
  removePending,
  settle,
  subscribed,
} from './conversation.js'

/** @type {ChatState} */
export const EMPTY_CHAT = {
  hub: null,
  agents: {},
  conversations: {},
  approvals: {},
  deciding: {},
  problem: null,
}

/**
 * Applies a frame of the hub to the state. Frames of a later protocol change nothing.
 * @param {ChatState} state @param {HubFrame} frame @param {number} now
 * @returns {ChatState}
 */
export function applyFrame(state, frame, now) {
  switch (frame.type) {
    case 'welcome':
      return welcome(state, frame)
    case 'subscribed':
      return change(state, frame.conversation, c => subscribed(c, frame.lastSeq))
    case 'message':
      return change(state, frame.message.conversation, c => addMessage(c, frame.message, true))
    case 'accepted':
      return change(state, frame.message.conversation, c => addMessage(c, frame.message, false))
    case 'delta':
      return change(state, frame.conversation, c => addDelta(c, String(frame.cycle), frame.text))
    case 'tool':
      return change(state, frame.conversation, c => addCall(c, String(frame.cycle), frame.call))
    case 'agent':
      return agentStatus(state, frame.name, frame.status)
    case 'approval':
      return applyApproval(state, frame.approval)
    case 'error':
      return refuse(state, frame, now)
    default:
      return state
  }
}

/** @param {ChatState} state @param {string} id @param {(c: Conversation) => Conversation} how */
function change(state, id, how) {
  const before = state.conversations[id] ?? createConversation(id, [agentOf(id)], 0)
  return { ...state, conversations: { ...state.conversations, [id]: how(before) } }
}

/** Returns the agent in an id, which is `<agent>` or `<agent>/<slug>`. @param {string} id */
export function agentOf(id) {
  return id.split('/')[0]
}

/** @param {ChatState} state @param {Extract<HubFrame, {type: 'welcome'}>} frame */
function welcome(state, frame) {
  /** @type {Record<string, Agent>} */
  const agents = Object.fromEntries(frame.agents.map(agent => [agent.name, agent]))
  const told = frame.conversations.map(one => known(state, one))
  const named = new Set(told.flatMap(c => [c.id, ...c.agents]))
  const implied = Object.keys(agents)
    .filter(name => !named.has(name) && agents[name].status !== 'retired')
    .map(name => state.conversations[name] ?? createConversation(name, [name], 0))
  const present = [...told, ...implied]
  const conversations = Object.fromEntries([...untold(state, present), ...present].map(c => [c.id, c]))
  return settleIdle({ ...state, hub: frame.hub, agents, conversations })
}

/**
 * Returns the conversations that the hub does not name. Those that only this page knows stay. Those that the
 * hub once had were deleted: of them only opened ones and ones with unsent messages begin anew.
 * @param {ChatState} state @param {Conversation[]} present
 */
function untold(state, present) {
  const names = new Set(present.map(({ id }) => id))
  return Object.values(state.conversations)
    .filter(({ id }) => !names.has(id))
    .filter(({ lastSeq, opened, pending }) => lastSeq === 0 || opened || pending.length > 0)
    .map(c => (c.lastSeq === 0 ? c : known(state, { id: c.id, agents: c.agents, lastSeq: 0 })))
}

/**
 * Returns a conversation of the hub with what this page knows of it. One that nobody read begins at its end
 * again; fewer messages than were seen mean another history: the data folder was replaced.
 * @param {ChatState} state @param {Told} told
 */
function known(state, { id, agents, lastSeq }) {
  const before = state.conversations[id]
  if (before?.opened && lastSeq >= before.seen) return { ...before, agents, lastSeq }
  const fresh = { ...createConversation(id, agents, lastSeq), pending: before?.pending ?? [] }
  return before?.opened ? openForReading(fresh) : fresh
}

/** @param {ChatState} state @param {string} name @param {string} status */
function agentStatus(state, name, status) {
  const before = state.agents[name] ?? { name, description: '', status }
  const next = { ...state, agents: { ...state.agents, [name]: { ...before, status } } }
  // No frame says that the agents were released; an active one proves it.
  return settleIdle(status === 'active' ? applyReleased(next) : next)
}

/** Ends the hold of the agents. @param {ChatState} state @returns {ChatState} */
export function applyReleased(state) {
  if (state.hub?.held === undefined) return state
  const { held: _, ...hub } = state.hub
  return { ...state, hub }
}

/** Clears live cycles without an active agent (a cycle may end without a frame). @param {ChatState} state */
function settleIdle(state) {
  const conversations = mapValues(state.conversations, c =>
    c.agents.some(name => state.agents[name]?.status === 'active') ? c : settle(c),
  )
  return { ...state, conversations }
}

/** @param {ChatState} state @param {ErrorFrame} frame @param {number} now @returns {ChatState} */
function refuse(state, { clientId, message }, now) {
  const owner = Object.values(state.conversations).find(c =>
    c.pending.some(pending => pending.clientId === clientId),
  )
  if (clientId && owner) return change(state, owner.id, c => refusePending(c, clientId, message))
  return { ...applyUndecided(state), problem: { text: message, at: now } }
}

/** @param {ChatState} state */
export function applyDisconnect(state) {
  return { ...applyUndecided(state), conversations: mapValues(state.conversations, interrupt) }
}

/** @param {ChatState} state @param {string} id */
export function applyOpen(state, id) {
  return change(state, id, openForReading)
}

/** @param {ChatState} state @param {Pending} pending */
export function applySend(state, pending) {
  return change(state, pending.conversation, c => addPending(c, pending))
}

/** Sends the same message once more. @param {ChatState} state @param {Pending} pending */
export function applyRetry(state, pending) {
  return change(state, pending.conversation, c => refusePending(c, pending.clientId, undefined))
}

/** @param {ChatState} state @param {Pending} pending */
export function applyDiscard(state, pending) {
  return change(state, pending.conversation, c => removePending(c, pending.clientId))
}

/** @param {ChatState} state @param {string} id @param {Message[]} older @param {number} base */
export function applyEarlier(state, id, older, base) {
  return change(state, id, c => prependMessages(c, older, base))
}

/** @param {ChatState} state @param {string | null} text @param {number} now @returns {ChatState} */
export function applyProblem(state, text, now) {
  return { ...state, problem: text === null ? null : { text, at: now } }
}

/**
 * Returns the frames that bring this page up to date: the conversations that it reads resume where they
 * stopped, the others only report news.
 * @param {ChatState} state
 * @returns {Frame[]}
 */
export function subscriptions(state) {
  return Object.values(state.conversations).map(c => ({
    type: 'subscribe',
    conversation: c.id,
    after: c.seen,
  }))
}

/**
 * @template Value
 * @param {Record<string, Value>} record @param {(value: Value) => Value} how
 */
function mapValues(record, how) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, how(value)]))
}
