import type { ChatMessage } from '../../schemas/chat.ts'
import type { HistoryContent } from '../../schemas/inbox.ts'
import type { Deadline } from '../core/clock.ts'
import type { Semaphore } from '../core/semaphore.ts'
import { openApprovalsOf } from '../store/approvals.ts'
import { factsOf } from '../store/context.ts'
import { createCycle, endCycle, lastCycleEnd, readCycle, workOf } from '../store/cycles.ts'
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

/** How long a cycle may go without a write before another process may take its thread over. */
export const LEASE_MS = 20 * 60_000

/** A cycle that this process runs: new, or the rest of one that a crash cut. */
export interface Claim extends Fenced {
  kind: 'new' | 'resumed'
  agent: RuntimeAgent
  /** Where the next text goes: as fixed at the cycle's start, or a conversation that was asked about since. */
  target: string | null
  /** Since when its minutes count: not the time for which the hub was down. */
  startedAt: number
  steps: number
  /** How the thread sleeps afterwards: `waiting` while a person's answer is open. */
  resting: 'sleeping' | 'waiting'
  /** The window, which grows as the cycle goes on; what stands for everything before it comes first. */
  window: HistoryEntry[]
  /** The history's seq at which the window starts. */
  start: number
  /** What the provider counted in the last step; undefined where the window is another since. */
  anchor: Anchor | undefined
  /** It slept for so long that it starts from summaries. */
  isIdle: boolean
  /** How many summaries its window cost so far. */
  compactions: number
  /** Everything that it took from the inbox so far. */
  items: InboxItem[]
  /** Those of them that no step that is stored has seen. */
  unseen: readonly InboxItem[]
  /** Something waits that did not fit, or that the cycle gave back: the next cycle begins at once. */
  hasMore: boolean
  /** Attempts at its next step: one, and one more for each crash of the hub while it ran. */
  attempts: number
  /** Since when its provider cannot be reached; null while it can. */
  parkedAt: number | null
  /** How often the last call of the model failed in a row. */
  failures?: number
  /** People read that the model fails, and not yet that it works again. */
  toldFailure?: boolean
  /** Where it did not end well. */
  outcome?: 'parked' | 'held' | 'dead' | 'stuck'
  /** Its window was made shorter for what a budget leaves; once. */
  shrunk?: boolean
  /** The fence under which it is ended where it takes no notice. */
  seized?: number | undefined
  /** Its end is stored, and was told. */
  endTold?: boolean
  /** Tokens that it used so far. */
  tokens: number
  /** What a call of the model took and is not written down yet. */
  unpaid?: Unpaid | undefined
  /** What the call that was cut last had streamed. */
  cutText?: string
  /** Its last process may have ended in the midst of a call of the model. */
  wasCut: boolean
  /** Who had asked it to stop before this process took it. */
  stopRequestedBy: string | null
  /** Aborts with StopRequested when a person stops it. */
  stop?: AbortSignal
  /** Its minutes, while it runs. */
  deadline?: Deadline
  turn?: Turn
  /** What servers have its model write is written and paid one after the other. */
  sampling?: Semaphore
}

/**
 * Takes the thread and what waits for it: in one transaction the inbox is drained and the batch stands in the history.
 * Undefined where there is nothing to do, another process has the thread, or a limit of the day holds it back. Throws
 * MustRunAlone for a suspect of a crash where others run.
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
      // Room may have been given back while the transaction was undone.
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
  let refused: string | null = null
  const begun = await deps.store.write(async tx => {
    const { running, waiting } = await workOf(tx, thread)
    if (running === null && waiting === null) return undefined
    const rows = running === null ? BATCH_ROWS : 0
    const cycle = running === null ? undefined : await readCycle(tx, running)
    // What a limit held back is judged anew; only a cycle that waits for its provider keeps its time.
    const due = cycle && cycle.parked_at !== null ? now : Number.MAX_SAFE_INTEGER
    const row = await claimThread(tx, {
      id: thread,
      owner: deps.owner,
      until: now + LEASE_MS,
      now,
      due,
      rows,
    })
    if (!row) refused = waiting === null ? null : running
    if (!row) return undefined
    const own = toAgentOf(agent, row)
    if (cycle) {
      if (!isAlone && decideAttempt(cycle.attempts) === 'alone') throw new MustRunAlone()
      return { claim: await resume(deps, tx, { agent: own, row, cycle, now }) }
    }
    return row.ended_at === null ? begin(deps, tx, { agent: own, row, now, day }) : refuse(tx, row, now)
  }, 'relaxed')
  if (begun?.notice) deps.signals.emit('message', begun.notice)
  if (refused !== null) await tellParked(deps, thread, refused)
  return begun?.claim
}

/** What still came for an ended task is put away. */
async function refuse(tx: Tx, row: ThreadRow, now: number): Promise<undefined> {
  await discardItems(tx, row.id)
  await releaseThread(tx, { thread: row.id, fence: row.fence, resting: 'sleeping' }, now)
}

/** A batch is one message, whose place in the history is reserved with the claim. */
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
  /** Publish it after the commit. */
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

/** How a thread sleeps for which a batch tells this. */
export function toResting({ approvals }: Pick<BatchFacts, 'approvals'>): Claim['resting'] {
  return approvals.length > 0 ? 'waiting' : 'sleeping'
}

/** The window before a cycle, as the last cycle left it in memory or as it is stored. */
async function openWindow(deps: RuntimeDeps, tx: Tx, agent: RuntimeAgent, row: ThreadRow) {
  const kept = deps.windows.take(row, BATCH_ROWS)
  if (kept) return kept
  const before = { ...row, last_seq: row.last_seq - BATCH_ROWS }
  return { window: await readWindow(deps, tx, before, agent), anchor: undefined }
}

/** Whether the agent's file wants summaries after a pause as long as this one. */
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

/** What the next user message tells besides its items. */
export async function readFacts(
  deps: RuntimeDeps,
  tx: Tx,
  at: {
    agent: RuntimeAgent
    thread: string
    replyTo: string | null
    now: number
    /** What stands in the window before it. */
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
