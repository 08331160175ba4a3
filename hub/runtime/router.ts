import type { SharedWith } from '../../schemas/agent-file.ts'
import type { ChatMessage, NewUserMessage, StopTarget } from '../../schemas/chat.ts'
import { conversationId } from '../../schemas/names.ts'
import { isPlace } from '../../schemas/timezone.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { NewId } from '../core/ids.ts'
import type { Model } from '../core/model.ts'
import { mayUse, type Principal } from '../core/principal.ts'
import type { Signals } from '../core/signals.ts'
import type { Telemetry } from '../core/telemetry.ts'
import { findByClientId } from '../store/conversations.ts'
import { attachFiles, filesOf } from '../store/files.ts'
import { postItem } from '../store/inbox.ts'
import type { Store } from '../store/open.ts'
import { ensureMainThread, hasThread, mainThreadId } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { answerByMessage, type DecidedCommand, decideCommand } from './commands.ts'
import { createEventPosts, type EventPosts } from './events.ts'
import { createFindAgents } from './find-agents.ts'
import { fireDue } from './firing.ts'
import { resetByMessage } from './reset.ts'
import type { ListingAgent, Routing } from './route-event.ts'
import { requestStop, type Stopping, stopByMessage } from './stop.ts'
import { appendAnswer, appendUserMessage } from './user-message.ts'

export interface RoutedAgent extends ListingAgent {
  conversations: readonly string[]
  shared: SharedWith
}

export interface RouterDeps {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
  telemetry: Telemetry
  agents: () => readonly RoutedAgent[]
  retired: () => readonly string[]
  /** Returns the model of an agent; by default one without commands, which sees pictures. */
  modelOf?: (agent: string) => Pick<Model, 'name' | 'commands' | 'sees'> | undefined
}

/** Decides which thread everything belongs to, and posts it; it is on the disk when a promise resolves. */
export interface Router extends EventPosts {
  /**
   * Posts a message. A repeat of the same `clientId`, author and conversation gives the same message. Throws
   * `not_found`, `retired`.
   */
  postMessage(message: NewUserMessage): Promise<ChatMessage>
  /**
   * Stops what runs in a thread, or for a conversation, at the next boundary; durable when it resolves. The
   * result is empty if nothing runs or is about to. With a `door` it is recorded; calls of tools are anyway.
   * Throws `not_found`.
   */
  stop(target: StopTarget, by: string, door?: string): Promise<Stopping>
  /** Posts schedules that are due, once per occurrence; true if more of them are due. */
  fireDue(): Promise<boolean>
  /** Returns the agents of a conversation, the first of which answers; none for an unknown conversation. */
  agentsOf(conversation: string): string[]
  /** Tells whether a principal may read and write in a conversation, as the agents' files are by now. */
  mayUse(principal: Principal, conversation: string): boolean
}

export function createRouter(deps: RouterDeps): Router {
  const find = createFindAgents(deps.agents)
  const agentsOf = (conversation: string) => find.ofConversation(conversation).map(agent => agent.name)
  // The main threads that are known to be on the disk: there is one for each agent, and it is never deleted.
  const known = new Set<string>()
  const wake = (threads: Iterable<string>) => {
    for (const thread of new Set(threads)) deps.signals.emit('posted', { thread })
  }
  const rearm = (agents: readonly string[]) => {
    for (const agent of new Set(agents)) deps.signals.emit('schedules', { agent })
  }
  const announce = (routings: readonly Routing[]) => {
    for (const { event } of routings) deps.signals.emit('event', { id: event.id })
    wake(routings.flatMap(({ event }) => event.routedTo))
    rearm(routings.flatMap(({ woken }) => woken))
    if (routings.some(({ releaseAt }) => releaseAt !== undefined))
      deps.signals.emit('dueTimesChanged', { why: 'a held event' })
  }
  return {
    ...createEventPosts({ ...deps, agents: find.listingEvents }, announce),
    agentsOf,
    mayUse(principal, conversation) {
      const agents = find.ofConversation(conversation)
      return mayUse(principal, conversation, {
        isShared: agents.length > 0 && agents.every(({ shared }) => shared !== false),
        isCommon: agents.every(({ shared }) => isCommon(shared, conversation)),
      })
    },
    async postMessage(message) {
      const all = agentsOf(message.conversation)
      const before = all.length === 0 ? await findRepeated(deps, message) : undefined
      if (before) return before
      const agents = decideAgents(deps, all, message)
      const model = deps.modelOf?.(agents[0] ?? '')
      const command = decideCommand(message.text, model?.commands)
      checkCommand(command, message)
      if (command.kind === 'stop') return stopByMessage(deps, all.map(mainThreadId), message)
      if (command.kind === 'reset') return resetByMessage(deps, all, message, command.message)
      if (command.kind === 'answer') return answerByMessage(deps, message, command.text)
      const unseen = message.images?.length && model?.sees === false ? sayUnseen(model.name) : undefined
      const { posted, messages } = await storeMessage(deps, { agents, known, message, unseen })
      const threads = agents.map(mainThreadId)
      for (const thread of threads) known.add(thread)
      for (const each of messages) deps.signals.emit('message', each)
      if (messages.length > 0) wake(threads)
      return posted
    },
    async stop(target, by, door) {
      if ('thread' in target) {
        if (!(await hasThread(deps.store.db, target.thread)))
          throw new HubError('not_found', `There is no thread ${target.thread}`)
        return requestStop(deps, { threads: [target.thread] }, { by, door })
      }
      const agents = agentsOf(target.conversation)
      decideAgents(deps, agents, { conversation: target.conversation, text: '' })
      const scope = { threads: agents.map(mainThreadId), conversation: target.conversation }
      return requestStop(deps, scope, { by, door })
    },
    async fireDue() {
      const fired = await fireDue(deps)
      wake(fired.threads)
      rearm(fired.agents)
      return fired.more
    },
  }
}

function isCommon(shared: SharedWith, conversation: string): boolean {
  return typeof shared !== 'boolean' && shared.includes(conversation)
}

/** Throws `forbidden` for a command of a guest. */
function checkCommand({ kind }: DecidedCommand, { power }: NewUserMessage): void {
  if (power === 'guest' && kind !== 'agent' && kind !== 'answer')
    throw new HubError('forbidden', 'Guests have no commands; ask somebody of the house.')
}

/** Finds a message accepted while the conversation had an agent. It queues behind a first copy's write. */
async function findRepeated({ store }: RouterDeps, { conversation, author, clientId }: NewUserMessage) {
  if (clientId === undefined) return undefined
  return store.write(tx => findByClientId(tx, conversation, author, clientId))
}

/** Returns the agents that the text names with `@name` if there are several, else the first. */
function decideAgents(
  deps: RouterDeps,
  agents: string[],
  { conversation, text }: Pick<NewUserMessage, 'conversation' | 'text'>,
): string[] {
  if (!conversationId.safeParse(conversation).success) {
    throw new HubError(
      'invalid_arguments',
      `conversation: "${conversation}" is no conversation's id: <agent> or <agent>/<slug>`,
    )
  }
  const [first] = agents
  if (first !== undefined) {
    const named = agents.length > 1 ? agents.filter(agent => isNamedIn(text, agent)) : []
    return named.length > 0 ? named : [first]
  }
  const name = conversation.split('/')[0] ?? conversation
  if (deps.retired().includes(name)) {
    throw new HubError(
      'retired',
      `The agent ${name} is retired: its file agents/${name}.md is gone, or wrong (hub_status says why). Put it back to go on.`,
    )
  }
  const known = deps.agents().map(agent => agent.name)
  throw new HubError(
    'not_found',
    `There is no agent for the conversation ${conversation}; agents: ${known.join(', ') || 'none'}`,
  )
}

function isNamedIn(text: string, agent: string): boolean {
  return new RegExp(`(?<![\\w@.-])@${agent}(?![\\w-])`, 'i').test(text)
}

function sayUnseen(model: string): string {
  return `${model} is not known to see pictures: it gets their kind and size alone. If it sees them, say so in Settings > Setup, or by vision: true in superbloom.yaml.`
}

interface Posting {
  agents: readonly string[]
  known: ReadonlySet<string>
  message: NewUserMessage
  /** The notice that follows pictures which the model does not see. */
  unseen: string | undefined
}

/**
 * Writes a message for its agents. Main threads that are not `known` to be on the disk are made before. Of a
 * repeat, `messages` is empty.
 */
async function storeMessage(deps: RouterDeps, { agents, known, message, unseen }: Posting) {
  const { conversation, trace } = message
  const span = deps.telemetry.begin('message', { conversation }, trace)
  let outcome = 'error'
  try {
    const stored = await deps.store.write(async tx => {
      for (const agent of agents)
        if (!known.has(mainThreadId(agent))) await ensureMainThread(tx, agent, deps.clock.now())
      const traced = { ...message, trace: span.trace }
      const { posted, isNew } = await writeMessage(deps, tx, agents.map(mainThreadId), traced)
      if (!isNew) return { posted, messages: [] }
      const notices = unseen === undefined ? [] : [await appendAnswer(deps, tx, posted, unseen)]
      return { posted, messages: [posted, ...notices] }
    })
    outcome = 'ok'
    return stored
  } finally {
    span.end(outcome, {})
  }
}

async function writeMessage(deps: RouterDeps, tx: Tx, threads: readonly string[], message: NewUserMessage) {
  const ids = [...new Set(message.files)]
  const files = await filesOf(tx, { ids, author: message.author })
  const entries = files.map(({ head: _, ...entry }) => entry)
  const { posted, isNew } = await appendUserMessage(deps, tx, message, entries)
  if (!isNew) return { posted, isNew }
  await attachFiles(tx, ids, posted)
  const { conversation, text, author, timezone, images = [], schema, power = 'person', trace } = message
  const payload = {
    kind: 'message' as const,
    conversation,
    messageId: posted.id,
    author,
    text,
    ...(timezone !== undefined && isPlace(timezone) ? { timezone } : {}),
    ...(images.length === 0 ? {} : { pictures: { count: images.length, seq: posted.seq } }),
    ...(files.length === 0 ? {} : { files }),
    ...(schema === undefined ? {} : { schema }),
    ...(trace === undefined ? {} : { trace }),
  }
  const item = { source: 'chat', externalId: posted.id, payload, power, conversation, at: posted.at }
  for (const thread of threads) await postItem(tx, { thread, ...item })
  return { posted, isNew }
}
