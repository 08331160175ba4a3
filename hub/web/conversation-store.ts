import type { AgentStatus, Approval, ConversationEntry, HubFrame, SentFrame } from '../../schemas/chat.ts'
import { applyApproval, applyUndecided, type Decision } from './approvals.ts'
import {
  addCall,
  addDelta,
  addMessage,
  addPending,
  type Conversation,
  createConversation,
  interrupt,
  type Message,
  openForReading,
  type Pending,
  prependMessages,
  refusePending,
  removePending,
  settle,
  subscribed,
  withEntry,
} from './conversation.ts'

type Welcome = Extract<HubFrame, { type: 'welcome' }>
export type Agent = Welcome['agents'][number]
export type Hub = Welcome['hub']

/** The state that the hub's frames add up to. */
export interface ChatState {
  hub: Hub | null
  /** Role of whoever is signed in. */
  role: Welcome['you']['role'] | null
  person: string | null
  agents: Record<string, Agent>
  conversations: Record<string, Conversation>
  approvals: Record<string, Approval>
  /** Answers of this page that the hub has not confirmed yet. */
  deciding: Record<string, Decision>
  /** Conversations that are about to be deleted, the latest last. */
  leaving: string[]
  problem: { text: string; at: number } | null
}

export const EMPTY_CHAT: ChatState = {
  hub: null,
  role: null,
  person: null,
  agents: {},
  conversations: {},
  approvals: {},
  deciding: {},
  leaving: [],
  problem: null,
}

/** Applies a frame of the hub to the state. Frames of a later protocol change nothing. */
export function applyFrame(state: ChatState, frame: HubFrame, now: number): ChatState {
  switch (frame.type) {
    case 'welcome':
      return welcome(state, frame)
    case 'conversation':
      return applyEntry(state, frame.conversation)
    case 'subscribed':
      return change(state, frame.conversation, c => subscribed(c, frame.lastSeq))
    case 'message':
    case 'accepted':
      return change(state, frame.message.conversation, c =>
        addMessage(c, frame.message as Message, frame.type === 'message'),
      )
    case 'delta':
      return change(state, frame.conversation, c => addDelta(c, frame.cycle, frame.text))
    case 'tool':
      return change(state, frame.conversation, c => addCall(c, frame.cycle, frame.call))
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

function applyEntry(state: ChatState, entry: ConversationEntry) {
  const { id, agents } = entry
  // A new one is followed from its first message on.
  const before = state.conversations[id] ?? createConversation(id, agents, 0)
  return { ...state, conversations: { ...state.conversations, [id]: withEntry(before, entry) } }
}

function change(state: ChatState, id: string, how: (c: Conversation) => Conversation) {
  const before = state.conversations[id] ?? createConversation(id, [agentOf(id)], 0)
  return { ...state, conversations: { ...state.conversations, [id]: how(before) } }
}

/** Returns the agent in an id, which is `<agent>` or `<agent>/<slug>`. */
export function agentOf(id: string) {
  return id.split('/', 1)[0] ?? ''
}

type Reader = Pick<ChatState, 'role' | 'person'>

/** Returns the name that begins the conversations of whoever is signed in; null for the owner, who uses all. */
export function ownName({ role, person }: Reader) {
  return role === 'member' || role === 'guest' ? person : null
}

/** Returns the id of the main conversation that the reader has with an agent. */
export function mainOf(reader: Reader, agent: string) {
  const name = ownName(reader)
  return name === null ? agent : `${agent}/${name}`
}

/** Tells whether a conversation is the reader's to begin, rename and pin. */
export function isTheirs(reader: Reader, id: string) {
  const main = mainOf(reader, agentOf(id))
  return ownName(reader) === null || id === main || id.startsWith(`${main}.`)
}

function welcome(state: ChatState, frame: Welcome) {
  const agents: Record<string, Agent> = Object.fromEntries(frame.agents.map(agent => [agent.name, agent]))
  const told = frame.conversations.map(one => known(state, one))
  const named = new Set(told.flatMap(c => [c.id, ...c.agents]))
  const implied = Object.keys(agents)
    .filter(name => !named.has(name) && agents[name]?.status !== 'retired')
    .map(name => state.conversations[name] ?? createConversation(name, [name], 0))
  const present = [...told, ...implied]
  const conversations = Object.fromEntries([...untold(state, present), ...present].map(c => [c.id, c]))
  return settleIdle({
    ...state,
    hub: frame.hub,
    role: frame.you.role,
    person: frame.you.name,
    agents,
    conversations,
  })
}

/**
 * Returns the conversations that the hub does not name. Those that only this page knows stay. Those that the
 * hub once had were deleted: of them only opened ones and ones with unsent messages begin anew.
 */
function untold(state: ChatState, present: Conversation[]) {
  const names = new Set(present.map(({ id }) => id))
  return Object.values(state.conversations)
    .filter(({ id }) => !names.has(id))
    .filter(({ lastSeq, opened, pending }) => lastSeq === 0 || opened || pending.length > 0)
    .map(c => (c.lastSeq === 0 ? c : known(state, { id: c.id, agents: c.agents, lastSeq: 0 })))
}

/**
 * Returns a conversation of the hub with what this page knows of it. One that nobody read begins at its end
 * again; fewer messages than were seen mean another history: the data folder was replaced.
 */
function known(state: ChatState, entry: ConversationEntry) {
  const { id, agents, lastSeq } = entry
  const before = state.conversations[id]
  if (before?.opened && lastSeq >= before.seen) return withEntry({ ...before, lastSeq }, entry)
  const begun = { ...createConversation(id, agents, lastSeq), pending: before?.pending ?? [] }
  const fresh = withEntry(begun, entry)
  return before?.opened ? openForReading(fresh) : fresh
}

function agentStatus(state: ChatState, name: string, status: AgentStatus) {
  const before = state.agents[name] ?? { name, description: '', status }
  const next = { ...state, agents: { ...state.agents, [name]: { ...before, status } } }
  // No frame says that the agents were released; an active one proves it.
  return settleIdle(status === 'active' ? applyReleased(next) : next)
}

/** Ends the hold of the agents. */
export function applyReleased(state: ChatState): ChatState {
  if (state.hub?.held === undefined) return state
  const { held: _, ...hub } = state.hub
  return { ...state, hub }
}

/** Clears live cycles without an active agent (a cycle may end without a frame). */
function settleIdle(state: ChatState) {
  const conversations = mapValues(state.conversations, c =>
    c.agents.some(name => state.agents[name]?.status === 'active') ? c : settle(c),
  )
  return { ...state, conversations }
}

function refuse(
  state: ChatState,
  { clientId, message }: Extract<HubFrame, { type: 'error' }>,
  now: number,
): ChatState {
  const owner = Object.values(state.conversations).find(c =>
    c.pending.some(pending => pending.clientId === clientId),
  )
  if (clientId && owner) return change(state, owner.id, c => refusePending(c, clientId, message))
  return { ...applyUndecided(state), problem: { text: message, at: now } }
}

export function applyDisconnect(state: ChatState) {
  return { ...applyUndecided(state), conversations: mapValues(state.conversations, interrupt) }
}

export function applyOpen(state: ChatState, id: string) {
  return change(state, id, openForReading)
}

export function applySend(state: ChatState, pending: Pending) {
  return change(state, pending.conversation, c => addPending(c, pending))
}

/** Sends the same message once more. */
export function applyRetry(state: ChatState, pending: Pending) {
  return change(state, pending.conversation, c => refusePending(c, pending.clientId, undefined))
}

export function applyDiscard(state: ChatState, pending: Pending) {
  return change(state, pending.conversation, c => removePending(c, pending.clientId))
}

/** Notes that a conversation is about to be deleted, or is not any more. */
export function applyLeaving(state: ChatState, id: string, isLeaving: boolean): ChatState {
  const others = state.leaving.filter(one => one !== id)
  return { ...state, leaving: isLeaving ? [...others, id] : others }
}

export function applyEarlier(state: ChatState, id: string, older: Message[], base: number) {
  return change(state, id, c => prependMessages(c, older, base))
}

export function applyProblem(state: ChatState, text: string | null, now: number): ChatState {
  return { ...state, problem: text === null ? null : { text, at: now } }
}

/**
 * Returns the frames that bring this page up to date: the conversations that it reads resume where they
 * stopped, the others only report news.
 */
export function subscriptions(state: ChatState): SentFrame[] {
  return Object.values(state.conversations).map(c => ({
    type: 'subscribe',
    conversation: c.id,
    after: c.seen,
  }))
}

function mapValues<Value>(record: Record<string, Value>, how: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, how(value)]))
}
