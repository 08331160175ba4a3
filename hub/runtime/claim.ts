import type { ChatMessage } from '../../schemas/chat.ts'
import type { HistoryContent } from '../../schemas/inbox.ts'
import type { Deadline } from '../core/clock.ts'
import type { Semaphore } from '../core/semaphore.ts'
import { openApprovalsOf } from '../store/approvals.ts'
import { factsOf } from '../store/context.ts'
import { createCycle, endCycle, lastCycleEnd, runningCycle } from '../store/cycles.ts'
import { appendHistory, type Fenced, type HistoryEntry } from '../store/history.ts'
import { type InboxItem, itemsOfCycle, nextItems } from '../store/inbox.ts'
import { forgetNote } from '../store/parked.ts'
import { pendingOf } from '../store/pending.ts'
import { activeSchedulesOf } from '../store/schedules.ts'
import type { CycleRow, ThreadRow } from '../store/tables.ts'
import { discardItems, runningTasksOf } from '../store/tasks.ts'
import { claimThread, releaseThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import type { BatchFacts } from './batch.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { openToday } from './limits/bounds.ts'
import { countWake, holdBack, RoomTaken, takePlace } from './limits/hold.ts'
import { LimitReached } from './limits/limit-reached.ts'
import type { Unpaid } from './limits/metered-model.ts'
import { tokensOfCycle } from './limits/prices.ts'
import { readWindow } from './read-window.ts'
import { decideReplyTo } from './reply.ts'
import { startFresh } from './reset.ts'
import { decideAttempt, MustRunAlone } from './suspects.ts'
import { takeBatch } from './take-batch.ts'
import { toAgentOf } from './tasks.ts'
import { tellParked } from './tell-parked.ts'
import type { Anchor } from './tokens.ts'
import { decideTelling } from './told-context.ts'
import type { Turn } from './turn.ts'

/** Milliseconds that a cycle may go without a write before another process may take its thread over. */
export const LEASE_MS = 20 * 60_000

/** A cycle that this process runs: new, or the rest of one that a crash cut. */
export interface Claim extends Fenced {
  kind: 'new' | 'resumed'
  agent: RuntimeAgent
  /** Conversation of the next text: fixed at the cycle's start, or one that was asked about since. */
  target: string | null
  /** Start of the cycle's minutes, unix milliseconds: for a resumed cycle, the time of its resumption. */
  startedAt: number
  steps: number
  /** State of the thread after the cycle: `waiting` while a person's answer is open. */
  resting: 'sleeping' | 'waiting'
  /** The window, which grows as the cycle goes on; a message for everything before it may come first. */
  window: HistoryEntry[]
  /** The history's seq at which the window starts. */
  start: number
  /**
   * Tokens that the provider counted up to the last step; undefined once the window was changed otherwise.
   */
  anchor: Anchor | undefined
  /** Whether the thread slept for so long that the cycle starts from summaries. */
  isIdle: boolean
  /** Number of compactions so far for which a model could be asked. */
  compactions: number
  /** Items that the cycle took from the inbox so far. */
  items: InboxItem[]
  /** Items that no stored step has seen yet. */
  unseen: readonly InboxItem[]
  /** Whether an item waits that did not fit, or was given back: the next cycle then begins at once. */
  hasMore: boolean
  /** Attempts at the next step: one, and one more for each crash of the hub while the cycle ran. */
  attempts: number
  /** Time since when the provider cannot be reached, unix milliseconds; null while it can. */
  parkedAt: number | null
  /** Number of failures in a row of the last call of the model. */
  failures?: number
  /** Whether people read that the model fails, and not yet that it works again. */
  toldFailure?: boolean
  /** State of a cycle that did not end well. */
  outcome?: 'parked' | 'held' | 'dead' | 'stuck'
  /** Whether the window was made shorter for what a budget leaves, which happens once. */
  shrunk?: boolean
  /** The fence under which the watch ends a cycle that does not stop by itself. */
  seized?: number | undefined
  /** Whether the cycle's end is stored and was told. */
  endTold?: boolean
  /** Tokens that the cycle used so far. */
  tokens: number
  /** Usage of a call of the model that is not written down yet. */
  unpaid?: Unpaid | undefined
  /** Text that the last call which was cut had streamed. */
  cutText?: string
  /** Whether the cycle's last process may have ended during a call of the model. */
  wasCut: boolean
  /** Name of whoever asked the cycle to stop before this process took it. */
  stopRequestedBy: string | null
  /** Aborts with StopRequested when a person stops it. */
  stop?: AbortSignal
  /** The deadline of the cycle's minutes, while it runs. */
  deadline?: Deadline
  turn?: Turn
  /** Lets servers use the model one after the other, so that each use is paid before the next. */
  sampling?: Semaphore
}

/**
 * Takes the thread and what waits for it: one transaction drains the inbox and adds the batch to the history.
 * Returns undefined if there is nothing to do, another process has the thread, or a limit of the day defers
 * it. Throws MustRunAlone for a suspect of a crash while other cycles run.
 */
export async function claimCycle(
  deps: RuntimeDeps,
  agent: RuntimeAgent,
  thread: string,
  { stopping, isAlone }: { stopping: AbortSignal; isAlone: boolean },
): Promise<Claim | undefined> {
  for (;;) {
    const day = await openToday(deps)
    const { releases } = deps.meter
    try {
      const claim = await tryClaim(deps, agent, { thread, day, isAlone })
      countWake(deps, thread)
      return claim
    } catch (error) {
      deps.places.leave(thread)
      if (error instanceof LimitReached) return void (await holdBack(deps, agent, thread, error))
      if (!(error instanceof RoomTaken)) throw error
      // A reservation may have been released while the transaction was undone.
      if (deps.meter.releases === releases) await deps.meter.changed(stopping)
    }
  }
}

async function tryClaim(
  deps: RuntimeDeps,
  agent: RuntimeAgent,
  { thread, day, isAlone }: { thread: string; day: string; isAlone: boolean },
): Promise<Claim | undefined> {
  const now = deps.clock.now()
  let parked: string | undefined
  const begun = await deps.store.write(async tx => {
    // A cycle that a limit deferred is judged anew; only one that waits for its provider keeps its time.
    const row = await claimThread(tx, { id: thread, owner: deps.owner, until: now + LEASE_MS, now })
    const cycle = await runningCycle(tx, thread)
    parked = row ? undefined : cycle?.id
    if (!row) return undefined
    const own = toAgentOf(agent, row)
    if (cycle) {
      if (!isAlone && decideAttempt(cycle.attempts) === 'alone') throw new MustRunAlone()
      return { claim: await resume(deps, tx, { agent: own, row, cycle, now }) }
    }
    return row.ended_at === null ? begin(deps, tx, { agent: own, row, now, day }) : refuse(tx, row, now)
  }, 'relaxed')
  if (begun?.notice) deps.signals.emit('message', begun.notice)
  if (parked !== undefined) await tellParked(deps, thread, parked)
  return begun?.claim
}

/** Discards what still came for a task that has ended. */
async function refuse(tx: Tx, row: ThreadRow, now: number): Promise<undefined> {
  await discardItems(tx, row.id)
  await releaseThread(tx, { thread: row.id, fence: row.fence, resting: 'sleeping' }, now)
}

/** Rows that `claimThread` reserves in the history for the batch, which is one message. */
const BATCH_ROWS = 1

async function resume(
  deps: RuntimeDeps,
  tx: Tx,
  { agent, row, cycle, now }: Beginning & { cycle: CycleRow },
): Promise<Claim> {
  const window = await readWindow(deps, tx, row, agent)
  if (cycle.note !== null) await forgetNote(tx, cycle.id)
  return {
    kind: 'resumed',
    agent,
    thread: row.id,
    cycle: cycle.id,
    fence: row.fence,
    target: cycle.reply_to,
    startedAt: now,
    steps: cycle.steps,
    window,
    start: row.window_start,
    anchor: undefined,
    isIdle: false,
    compactions: 0,
    items: await itemsOfCycle(tx, cycle.id),
    unseen: [],
    hasMore: true,
    attempts: cycle.attempts,
    parkedAt: cycle.parked_at,
    resting: toResting({ approvals: await openApprovalsOf(tx, row.id) }),
    tokens: tokensOfCycle(cycle),
    wasCut: cycle.parked_at === null && cycle.note === null,
    stopRequestedBy: cycle.stop_requested_by,
  }
}

interface Beginning {
  agent: RuntimeAgent
  row: ThreadRow
  now: number
}

interface Begun {
  claim: Claim
  /** Message to publish after the commit. */
  notice?: ChatMessage | undefined
}

async function begin(
  deps: RuntimeDeps,
  tx: Tx,
  { agent, row: taken, now, day }: Beginning & { day: string },
): Promise<Begun | undefined> {
  const id = deps.newId('cyc')
  const waiting = await nextItems(tx, taken.id)
  const isFresh = waiting.some(({ payload }) => payload.kind === 'reset')
  if (isFresh) await startFresh(deps, tx, { agent, row: taken, now })
  const row = isFresh ? { ...taken, window_start: taken.last_seq } : taken
  const fenced = { thread: row.id, cycle: id, fence: row.fence }
  const isIdle = await isLongPause(tx, agent, row.id, now)
  const { window, anchor } = await openWindow(deps, tx, agent, row)
  const contents = window.map(entry => entry.content)
  const facts = await readFacts(deps, tx, { agent, thread: row.id, replyTo: null, now, contents })
  const before = { agent, thread: row.id, window, anchor }
  const batch = await takeBatch(deps, tx, id, { ...before, waiting, facts })
  const { items, hasMore } = batch
  const target = agent.task ? null : decideReplyTo(items, agent.conversations[0])
  await createCycle(tx, { id, thread_id: row.id, fence: row.fence, reply_to: target, started_at: now })
  const lastSeq = row.last_seq - BATCH_ROWS
  const message = batch.toMessage({ ...facts, replyTo: target })
  window.push(...(await appendHistory(tx, fenced, lastSeq, 0, [message], now)))
  const resting = toResting(facts)
  if (items.every(({ payload }) => payload.kind === 'reset')) {
    await endCycle(tx, id, { status: 'done', at: now })
    await releaseThread(tx, { ...fenced, resting }, now)
    return undefined
  }
  await takePlace(deps, tx, { agent, thread: row.id, day, items, window, anchor })
  const claim: Claim = {
    ...fenced,
    kind: 'new',
    agent,
    target,
    startedAt: now,
    steps: 0,
    resting,
    items,
    unseen: items,
    hasMore,
    window,
    anchor,
    start: row.window_start,
    isIdle,
    compactions: 0,
    attempts: 1,
    parkedAt: null,
    tokens: 0,
    wasCut: false,
    stopRequestedBy: null,
  }
  return { claim, notice: batch.notice }
}

/** Returns how a thread sleeps: `waiting` while it has open approvals. */
export function toResting({ approvals }: Pick<BatchFacts, 'approvals'>): Claim['resting'] {
  return approvals.length > 0 ? 'waiting' : 'sleeping'
}

/** Returns the window before a cycle, as the last cycle left it in memory or as it is stored. */
async function openWindow(deps: RuntimeDeps, tx: Tx, agent: RuntimeAgent, row: ThreadRow) {
  const kept = deps.windows.take(row, BATCH_ROWS)
  if (kept) return kept
  const before = { ...row, last_seq: row.last_seq - BATCH_ROWS }
  return { window: await readWindow(deps, tx, before, agent), anchor: undefined }
}

/** Tells whether the last pause was so long that the agent's file (`idleReset`) wants summaries. */
async function isLongPause(
  tx: Tx,
  { idleReset }: RuntimeAgent,
  thread: string,
  now: number,
): Promise<boolean> {
  if (idleReset === undefined) return false
  const last = await lastCycleEnd(tx, thread)
  return last !== undefined && now - last >= idleReset
}

/** Reads what the next user message tells besides its items. */
export async function readFacts(
  deps: RuntimeDeps,
  tx: Tx,
  at: {
    agent: RuntimeAgent
    thread: string
    replyTo: string | null
    now: number
    /** Contents of the window before the message. */
    contents: readonly HistoryContent[]
  },
): Promise<BatchFacts> {
  const { agent, now, replyTo, thread } = at
  const has = await pendingOf(tx, agent.name, thread)
  const schedules = has.schedule === null ? [] : await activeSchedulesOf(tx, thread)
  const approvals = has.approval === null ? [] : await openApprovalsOf(tx, thread)
  const mayHaveTasks = has.task !== null && (!agent.task || agent.task.mayMakeTasks)
  const tasks = mayHaveTasks ? await runningTasksOf(tx, thread) : []
  const stored = has.fact === null ? [] : await factsOf(tx, agent.name, thread)
  return {
    now,
    replyTo,
    schedules,
    approvals,
    tasks,
    inTask: agent.task !== undefined,
    timezone: deps.timezone,
    conversations: agent.conversations,
    context: decideTelling(at.contents, stored),
  }
}
