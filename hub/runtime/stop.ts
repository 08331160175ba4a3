import type { ChatMessage, NewUserMessage } from '../../schemas/chat.ts'
import { type AuditEntry, record } from '../store/audit-log.ts'
import { hasWaiting } from '../store/inbox.ts'
import { requestStops, type StoppedCycle, type StopScope } from '../store/stops.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle } from './active-cycle.ts'
import type { RuntimeDeps } from './deps.ts'
import { appendAnswer, appendUserMessage } from './user-message.ts'

/** The reason with which a person's stop aborts a cycle. */
export class StopRequested extends Error {
  readonly by: string

  constructor(by: string) {
    super(`Stopped by ${by}`)
    this.name = 'StopRequested'
    this.by = by
  }
}

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'signals'>

export interface Stopping {
  stopped: StoppedCycle[]
  /** Threads whose inbox waits for a cycle that has not begun. */
  waiting: string[]
}

/** Stops cycles of the scope at their next boundary, also those about to begin; durable when it resolves. */
export async function requestStop(
  deps: Deps,
  scope: StopScope,
  { by, door }: { by: string; door: string | undefined },
): Promise<Stopping> {
  const stopping = await deps.store.write(async tx => {
    const stopping = await writeStop(tx, scope, by)
    if (door !== undefined) await recordStop(tx, scope, stopping, { at: deps.clock.now(), actor: by, door })
    return stopping
  })
  emitStop(deps, stopping, by)
  return stopping
}

/** Adds a stop to the audit, with the cycles that it ends. */
function recordStop(
  tx: Tx,
  { conversation, threads }: StopScope,
  { stopped, waiting }: Stopping,
  who: Pick<AuditEntry, 'at' | 'actor' | 'door'>,
): Promise<void> {
  const outcome = stopped.length + waiting.length > 0 ? 'ok' : 'nothing to stop'
  const details = { conversation, threads, cycles: stopped.map(({ cycle }) => cycle), waiting }
  return record(tx, { ...who, kind: 'stop', outcome, details })
}

async function writeStop(tx: Tx, scope: StopScope, by: string): Promise<Stopping> {
  const stopped = await requestStops(tx, scope, by)
  const busy = new Set(stopped.map(({ thread }) => thread))
  const waiting: string[] = []
  for (const thread of scope.threads)
    if (!busy.has(thread) && (await hasWaiting(tx, thread))) waiting.push(thread)
  return { stopped, waiting }
}

function emitStop({ signals }: Pick<Deps, 'signals'>, { stopped, waiting }: Stopping, by: string): void {
  for (const { thread, cycle } of stopped) signals.emit('stopRequested', { thread, cycle, by })
  for (const thread of waiting) signals.emit('stopRequested', { thread, by })
}

/**
 * Handles `/stop` in a conversation: it stands there as the user's message, and no agent reads it. If the end
 * of the cycle will not be seen in the conversation, a notice says what happens. The same `clientId` again
 * does nothing.
 */
export async function stopByMessage(
  deps: Deps,
  threads: readonly string[],
  message: NewUserMessage,
): Promise<ChatMessage> {
  const { conversation, author, door } = message
  const { posted, messages, stopping } = await deps.store.write(async tx => {
    const { posted, isNew } = await appendUserMessage(deps, tx, message)
    if (!isNew) return { posted, messages: [], stopping: { stopped: [], waiting: [] } }
    const scope = { threads, conversation }
    const stopping = await writeStop(tx, scope, author)
    await recordStop(tx, scope, stopping, { at: posted.at, actor: author, door })
    const text = describeStop(stopping, conversation)
    if (text === undefined) return { posted, messages: [posted], stopping }
    return { posted, messages: [posted, await appendAnswer(deps, tx, posted, text)], stopping }
  })
  for (const each of messages) deps.signals.emit('message', each)
  emitStop(deps, stopping, author)
  return posted
}

/** Returns the notice; undefined if the end of what is stopped is told in the conversation anyway. */
function describeStop({ stopped, waiting }: Stopping, conversation: string): string | undefined {
  if (stopped.some(({ replyTo }) => replyTo === conversation)) return undefined
  if (stopped.length === 0)
    return waiting.length > 0
      ? 'What waits for its turn stops as soon as it begins.'
      : 'Nothing is running; there is nothing to stop.'
  const places = stopped.map(({ replyTo }) => (replyTo === null ? '' : ` for ${replyTo}`))
  return `Stopping what runs${places.join(' and')}.`
}

/** The stops that were requested of this process, and the cycles that listen for them. */
export class Stops {
  readonly #running = new Map<string, AbortController>()
  /** Names of requesters whose stop came before the cycle listened, by cycle or thread. */
  readonly #early = new Map<string, string>()

  /** Stops a cycle; without `cycle`, the next one of the thread. */
  request({ thread, cycle, by }: { thread: string; cycle?: string; by: string }): void {
    const listening = cycle === undefined ? undefined : this.#running.get(cycle)
    if (listening) listening.abort(new StopRequested(by))
    else this.#early.set(cycle ?? thread, by)
  }

  /** Returns a signal that aborts with StopRequested, at once if the cycle was to stop before. */
  begin({ id, thread, stopRequestedBy }: ActiveCycle): AbortSignal {
    const controller = new AbortController()
    this.#running.set(id, controller)
    const by = stopRequestedBy ?? this.#early.get(id) ?? this.#early.get(thread)
    this.#early.delete(id)
    this.#early.delete(thread)
    if (by) controller.abort(new StopRequested(by))
    return controller.signal
  }

  end(cycle: string): void {
    this.#running.delete(cycle)
    this.#early.delete(cycle)
  }

  /** Drops the thread's request: there was nothing to stop. */
  forget(thread: string): void {
    this.#early.delete(thread)
  }
}
