import type { ChatMessage, NewUserMessage } from '../../schemas/chat.ts'
import type { Clock } from '../core/clock.ts'
import type { NewId } from '../core/ids.ts'
import type { Signals } from '../core/signals.ts'
import { appendMessage, appendOnce } from '../store/conversations.ts'
import { hasWaiting } from '../store/inbox.ts'
import type { Store } from '../store/open.ts'
import { requestStops, type StoppedCycle, type StopScope } from '../store/stops.ts'
import type { Tx } from '../store/writer.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { fail } from './finish.ts'

/** The reason with which a person's stop aborts a cycle. */
export class StopRequested extends Error {
  readonly by: string

  constructor(by: string) {
    super(`Stopped by ${by}`)
    this.name = 'StopRequested'
    this.by = by
  }
}

/** Tells whether a message's whole text is the command to stop. */
export function isStopCommand(text: string): boolean {
  return text.trim() === '/stop'
}

export interface StopDeps {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
}

export interface Stopping {
  stopped: StoppedCycle[]
  /** Threads whose inbox waits for a cycle that has not begun. */
  waiting: string[]
}

/** Stops cycles of the scope at their next boundary, also those about to begin; durable when it resolves. */
export async function requestStop(deps: StopDeps, scope: StopScope, by: string): Promise<Stopping> {
  const stopping = await deps.store.write(tx => writeStop(tx, scope, by))
  announce(deps, stopping, by)
  return stopping
}

async function writeStop(tx: Tx, scope: StopScope, by: string): Promise<Stopping> {
  const stopped = await requestStops(tx, scope, by)
  const busy = new Set(stopped.map(({ thread }) => thread))
  const waiting: string[] = []
  for (const thread of scope.threads)
    if (!busy.has(thread) && (await hasWaiting(tx, thread))) waiting.push(thread)
  return { stopped, waiting }
}

function announce({ signals }: StopDeps, { stopped, waiting }: Stopping, by: string): void {
  for (const { thread, cycle } of stopped) signals.emit('stopRequested', { thread, cycle, by })
  for (const thread of waiting) signals.emit('stopRequested', { thread, by })
}

/**
 * Handles `/stop` in a conversation: it stands there as the user's message, and no agent reads it. If the end
 * of the cycle will not be seen in the conversation, a notice says what happens. The same `clientId` again
 * does nothing.
 */
export async function stopByMessage(
  deps: StopDeps,
  threads: readonly string[],
  message: NewUserMessage,
): Promise<ChatMessage> {
  const { conversation, text, author, token, clientId } = message
  const done = await deps.store.write(async tx => {
    const about = { conversation, at: deps.clock.now() }
    const named = clientId === undefined ? {} : { token, clientId }
    const id = deps.newId('msg')
    const { posted, isNew } = await appendOnce(tx, { ...about, id, kind: 'user', author, text, ...named })
    if (!isNew) return { posted, told: [], stopping: { stopped: [], waiting: [] } }
    const stopping = await writeStop(tx, { threads, conversation }, author)
    const notice = describeStop(stopping, conversation)
    if (notice === undefined) return { posted, told: [posted], stopping }
    const answer = { ...about, id: deps.newId('msg'), kind: 'notice' as const, author: 'hub', text: notice }
    return { posted, told: [posted, await appendMessage(tx, { ...answer, inReplyTo: [id] })], stopping }
  })
  for (const each of done.told) deps.signals.emit('message', each)
  announce(deps, done.stopping, author)
  return done.posted
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
export interface Stops {
  /** Stops a cycle; without `cycle`, the next one of the thread. */
  request(stop: { thread: string; cycle?: string; by: string }): void
  /** Returns a signal that aborts with StopRequested, at once if the cycle was to stop before. */
  begin(claim: Claim): AbortSignal
  end(cycle: string): void
  /** Drops the thread's request: there was nothing to stop. */
  forget(thread: string): void
}

export function createStops(): Stops {
  const running = new Map<string, AbortController>()
  /** Names of requesters whose stop came before the cycle listened, by cycle or thread. */
  const early = new Map<string, string>()
  return {
    request({ thread, cycle, by }) {
      const listening = cycle === undefined ? undefined : running.get(cycle)
      if (listening) listening.abort(new StopRequested(by))
      else early.set(cycle ?? thread, by)
    },
    begin({ cycle, thread, stopRequestedBy }) {
      const controller = new AbortController()
      running.set(cycle, controller)
      const by = stopRequestedBy ?? early.get(cycle) ?? early.get(thread)
      early.delete(cycle)
      early.delete(thread)
      if (by) controller.abort(new StopRequested(by))
      return controller.signal
    },
    end(cycle) {
      running.delete(cycle)
      early.delete(cycle)
    },
    forget: thread => void early.delete(thread),
  }
}

/** Ends a cycle that a person stopped: the text streamed so far is kept, and every call has its result. */
export async function endStopped(deps: RuntimeDeps, claim: Claim, { by }: StopRequested): Promise<void> {
  deps.log.info('cycle_stopped', { cycle: claim.cycle, thread: claim.thread, by })
  await fail(deps, claim, {
    kind: 'notice',
    status: 'stopped',
    text: `I was stopped by ${by}. Write again to have me go on.`,
    data: { stoppedBy: by },
    partial: claim.cutText ?? '',
    note: `[${by} stopped me here.]`,
    givesBack: true,
  })
}
