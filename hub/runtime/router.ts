import type { ChatMessage, NewUserMessage, StopTarget } from '../../schemas/chat.ts'
import {
  type EventFact,
  type EventListed,
  eventWanted,
  type NewEvent,
  type RoutedEvent,
} from '../../schemas/inbox.ts'
import { conversationId } from '../../schemas/names.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { isWanted } from '../core/event-match.ts'
import type { NewId } from '../core/ids.ts'
import { toCanonicalJson } from '../core/json.ts'
import { latestOccurrence, nextOccurrence } from '../core/schedule-plan.ts'
import type { Signals } from '../core/signals.ts'
import { appendMessage, findByClientId } from '../store/conversations.ts'
import { type EventCursor, recordEvent, saveCursor } from '../store/events.ts'
import { postItem } from '../store/inbox.ts'
import type { Store } from '../store/open.ts'
import { advanceSchedule, dueSchedules, schedulesWaitingForEvents } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import { ensureMainThread, hasThread, mainThreadId } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { isStopCommand, requestStop, type Stopping, stopByMessage } from './stop.ts'

export interface RoutedAgent {
  name: string
  conversations: readonly string[]
  events: readonly EventListed[]
}

export interface RouterDeps {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
  agents: () => readonly RoutedAgent[]
  retired: () => readonly string[]
}

/** Decides which thread everything belongs to, and posts it: what returns is on the disk. */
export interface Router {
  /** The same `clientId` of the same token and conversation again gives the same message. Throws `not_found`, `retired`. */
  postMessage(message: NewUserMessage): Promise<ChatMessage>
  /** Undefined where the event was there already. */
  postEvent(event: NewEvent): Promise<RoutedEvent | undefined>
  /** What a server's feed brought, together with how far it was read. */
  postFeed(server: string, events: NewEvent[], cursor: EventCursor): Promise<void>
  /** Posts every schedule that is due, once per occurrence; one that was missed several times fires once. */
  fireDue(): Promise<void>
  /**
   * Stops what runs in a thread, or for a conversation, at the next boundary; durable when it resolves. Empty where
   * nothing runs or is about to. Throws `not_found`.
   */
  stop(target: StopTarget, by: string): Promise<Stopping>
  /** The agents of a conversation, the first being the one that answers; none where there is no such conversation. */
  agentsOf(conversation: string): string[]
}

export function createRouter(deps: RouterDeps): Router {
  const agentsOf = (conversation: string) =>
    deps
      .agents()
      .filter(
        ({ name, conversations }) =>
          conversations.includes(conversation) || conversation.split('/')[0] === name,
      )
      .map(agent => agent.name)
  // Main threads that are on the disk for sure: there is one for each agent, and they live for ever.
  const known = new Set<string>()
  const wake = (threads: Iterable<string>) => {
    for (const thread of new Set(threads)) deps.signals.emit('posted', { thread })
  }
  return {
    agentsOf,
    async postMessage(message) {
      const agents = agentsOf(message.conversation)
      const agent = decideAgent(deps, agents, message.conversation)
      if (isStopCommand(message.text)) return stopByMessage(deps, agents.map(mainThreadId), message)
      const thread = mainThreadId(agent)
      const { posted, isNew } = await deps.store.write(async tx => {
        if (!known.has(thread)) await ensureMainThread(tx, agent, deps.clock.now())
        return writeMessage(deps, tx, thread, message)
      })
      known.add(thread)
      if (isNew) {
        deps.signals.emit('message', posted)
        wake([thread])
      }
      return posted
    },
    async stop(target, by) {
      if ('thread' in target) {
        if (!(await hasThread(deps.store.db, target.thread)))
          throw new HubError('not_found', `There is no thread ${target.thread}`)
        return requestStop(deps, { threads: [target.thread] }, by)
      }
      const agents = agentsOf(target.conversation)
      decideAgent(deps, agents, target.conversation)
      return requestStop(deps, { threads: agents.map(mainThreadId), conversation: target.conversation }, by)
    },
    async postEvent(event) {
      const routed = await deps.store.write(tx => routeEvent(deps, tx, event))
      wake(routed?.routedTo ?? [])
      return routed
    },
    async postFeed(server, events, cursor) {
      const threads = await deps.store.write(async tx => {
        const routed: string[] = []
        for (const event of events) routed.push(...((await routeEvent(deps, tx, event))?.routedTo ?? []))
        await saveCursor(tx, server, cursor)
        return routed
      })
      wake(threads)
    },
    async fireDue() {
      const now = deps.clock.now()
      const fired = await deps.store.write(async tx => {
        const due = await dueSchedules(tx, now)
        for (const schedule of due) await fire(tx, schedule, now)
        return due
      })
      wake(fired.map(schedule => schedule.thread_id))
      for (const agent of new Set(fired.map(schedule => schedule.agent)))
        deps.signals.emit('schedules', { agent })
    },
  }
}

function decideAgent(deps: RouterDeps, agents: string[], conversation: string): string {
  if (!conversationId.safeParse(conversation).success) {
    throw new HubError(
      'invalid_arguments',
      `conversation: "${conversation}" is no conversation's id: <agent> or <agent>/<slug>`,
    )
  }
  const [first] = agents
  if (first !== undefined) return first
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

async function writeMessage(deps: RouterDeps, tx: Tx, thread: string, message: NewUserMessage) {
  const { conversation, text, author, token, clientId } = message
  const before = clientId === undefined ? undefined : await findByClientId(tx, conversation, token, clientId)
  if (before) return { posted: before, isNew: false }
  const at = deps.clock.now()
  const id = deps.newId('msg')
  const posted = await appendMessage(tx, {
    id,
    conversation,
    kind: 'user',
    author,
    text,
    at,
    ...(clientId === undefined ? {} : { token, clientId }),
  })
  await postItem(tx, {
    thread,
    source: 'chat',
    externalId: id,
    payload: { kind: 'message', conversation, messageId: id, author, text },
    conversation,
    at,
  })
  return { posted, isNew: true }
}

/** A thread that waited for the event stands in for its agent's own listing. */
async function routeEvent(deps: RouterDeps, tx: Tx, event: NewEvent): Promise<RoutedEvent | undefined> {
  const fact: EventFact = { ...event, id: deps.newId('evt') }
  const waiting = (await schedulesWaitingForEvents(tx)).filter(schedule => waitsFor(schedule, event))
  const standIns = new Set(waiting.map(schedule => schedule.agent))
  const listing = deps
    .agents()
    .filter(
      ({ name, events }) => !standIns.has(name) && events.some(w => isWanted(w, event.type, event.payload)),
    )
  const routedTo = [
    ...new Set([...waiting.map(s => s.thread_id), ...listing.map(({ name }) => mainThreadId(name))]),
  ]
  const status = routedTo.length > 0 ? ('pending' as const) : ('ignored' as const)
  const recorded = await recordEvent(tx, {
    id: fact.id,
    source: event.source,
    external_id: event.externalId,
    type: event.type,
    key: event.key ?? toCanonicalJson(event.payload),
    payload_json: JSON.stringify(event.payload),
    status,
    routed_to_json: JSON.stringify(routedTo),
    note: status === 'ignored' ? 'no agent lists it and no thread waits for it' : null,
    at: event.at,
    received_at: deps.clock.now(),
    repeats: 0,
  })
  if (!recorded) return undefined
  for (const schedule of waiting) await fire(tx, schedule, deps.clock.now(), fact)
  for (const { name } of listing) {
    const thread = await ensureMainThread(tx, name, deps.clock.now())
    const payload = { kind: 'event' as const, event: fact }
    await postItem(tx, { thread, source: 'event', externalId: fact.id, payload, at: deps.clock.now() })
  }
  return { id: fact.id, status, routedTo }
}

function waitsFor(schedule: ScheduleRow, event: NewEvent): boolean {
  const wanted = eventWanted.array().parse(JSON.parse(schedule.wake_on_events_json))
  return wanted.some(one => isWanted(one, event.type, event.payload))
}

/** Posts the occurrence and advances the schedule; with `early` an event came before its time. */
async function fire(tx: Tx, schedule: ScheduleRow, now: number, early?: EventFact): Promise<void> {
  const dueAt = early ? now : lastDue(schedule, now)
  await postItem(tx, {
    thread: schedule.thread_id,
    source: 'schedule',
    externalId: early ? `${schedule.id}:${early.id}` : `${schedule.id}@${dueAt}`,
    payload: {
      kind: 'wake',
      schedule: schedule.id,
      reason: schedule.reason,
      dueAt,
      ...(early ? { early } : {}),
    },
    conversation: schedule.conversation_id ?? undefined,
    at: now,
  })
  const next = schedule.cron === null ? undefined : nextOccurrence(schedule.cron, schedule.timezone, now)
  await advanceSchedule(tx, schedule.id, now, next)
}

/** The occurrence that fires: of those that were missed the latest stands for all. */
function lastDue({ cron, timezone, next_run }: ScheduleRow, now: number): number {
  const first = next_run ?? now
  return cron === null ? first : Math.max(first, latestOccurrence(cron, timezone, now) ?? first)
}
