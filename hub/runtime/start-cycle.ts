import type { ChatMessage } from '../../schemas/chat.ts'
import { openApprovalsOf } from '../store/approvals.ts'
import { createCycle, endCycle, lastCycleEnd, leftForeignUnseen, runningCycle } from '../store/cycles.ts'
import { appendHistory } from '../store/history.ts'
import { itemsOfCycle, nextItems } from '../store/inbox.ts'
import { forgetNote } from '../store/suspended.ts'
import type { CycleRow, ThreadRow } from '../store/tables.ts'
import { discardItems } from '../store/tasks.ts'
import { claimThread, releaseThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { ActiveCycle, LEASE_MS } from './active-cycle.ts'
import { tellsForeign } from './batch.ts'
import { mayBeForeign, powerOf } from './decide-batch.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { deferThread } from './limits/defer.ts'
import { LimitReached } from './limits/limit-reached.ts'
import { type Reservation, untilReleased } from './limits/meter.ts'
import { tokensOfCycle } from './limits/prices.ts'
import { BudgetBusy, openToday, reserveStart } from './limits/reserve.ts'
import { decideReplyTo } from './reply.ts'
import { beginsTopic, startFresh } from './reset.ts'
import { notifyWaiting } from './suspend.ts'
import { appendTooLong, readFacts, takeItemsInto, toResting } from './take-batch.ts'
import { toAgentOf } from './tasks.ts'
import { readWindow } from './window.ts'

/** The attempt at which a step runs alone: the hub crashed twice while its cycle ran, and others ran too. */
const ALONE_AT = 3

/** Decides how a cycle goes on after crashes of the hub: only a crash while it ran alone is its own. */
export function decideAttempt(attempts: number): 'together' | 'alone' | 'dead' {
  if (attempts < ALONE_AT) return 'together'
  return attempts === ALONE_AT ? 'alone' : 'dead'
}

/** Thrown if the cycle is a suspect of a crash, and may be claimed only while no other runs. */
export class MustRunAlone extends Error {}

type Deps = Omit<RuntimeDeps, 'agent' | 'noteCycle' | 'background'>

/**
 * Takes the thread and what waits for it: one transaction drains the inbox and adds the batch to the history.
 * Returns undefined if there is nothing to do, another process has the thread, or a limit of the day defers
 * it. Throws MustRunAlone for a suspect of a crash while other cycles run.
 */
export async function startCycle(
  deps: Deps,
  agent: RuntimeAgent,
  thread: string,
  { stopping, isAlone }: { stopping: AbortSignal; isAlone: boolean },
): Promise<ActiveCycle | undefined> {
  for (;;) {
    const day = await openToday(deps)
    const { released } = deps.meter
    try {
      return await tryStart(deps, agent, { thread, day, isAlone })
    } catch (error) {
      if (error instanceof LimitReached) return void (await deferThread(deps, agent, thread, error))
      if (!(error instanceof BudgetBusy)) throw error
      await untilReleased(released, stopping)
    }
  }
}

interface Started {
  cycle?: ActiveCycle
  /** Message to emit after the commit. */
  notice?: ChatMessage | undefined
  /** The cycle that waits for its provider while items came. */
  waiting?: string | undefined
}

async function tryStart(
  deps: Deps,
  agent: RuntimeAgent,
  { thread, day, isAlone }: { thread: string; day: string; isAlone: boolean },
): Promise<ActiveCycle | undefined> {
  const now = deps.clock.now()
  let reservation: Reservation | undefined
  const start = async (tx: Tx): Promise<Started> => {
    // A cycle that a limit deferred is judged anew; only one that waits for its provider keeps its time.
    const row = await claimThread(tx, { id: thread, owner: deps.owner, until: now + LEASE_MS, now })
    const unfinished = await runningCycle(tx, thread)
    if (!row) return { waiting: unfinished?.id }
    const own = toAgentOf(agent, row)
    if (unfinished) {
      if (!isAlone && decideAttempt(unfinished.attempts) === 'alone') throw new MustRunAlone()
      return { cycle: await resume(deps, tx, { agent: own, row, cycle: unfinished, now }) }
    }
    if (row.ended_at !== null) return refuse(tx, row, now)
    const reserve: Begin['reserve'] = async start => {
      // A transaction that is tried again reserves again, in place of its first reservation.
      deps.meter.release(reservation)
      reservation = await reserveStart(deps, tx, { ...start, day })
      return reservation
    }
    return begin(deps, tx, { agent: own, row, now, reserve })
  }
  try {
    const { cycle, notice, waiting } = await deps.store.write(start, 'relaxed')
    if (notice) deps.signals.emit('message', notice)
    if (waiting !== undefined) await notifyWaiting(deps, thread, waiting)
    if (reservation) countWake(deps, reservation)
    return cycle
  } catch (error) {
    deps.meter.release(reservation)
    throw error
  }
}

/** Counts the wake of a cycle that has begun. */
function countWake({ meter }: Deps, reservation: Reservation): void {
  const { day, agent, wakes } = reservation
  meter.spend({ day, agent, tokens: 0, cost_micros: 0, wakes })
  reservation.wakes = 0
}

/** Discards what still came for a task that has ended. */
async function refuse(tx: Tx, row: ThreadRow, now: number): Promise<Started> {
  await discardItems(tx, row.id)
  await releaseThread(tx, { thread: row.id, fence: row.fence, resting: 'sleeping' }, now)
  return {}
}

/** Rows that `claimThread` reserves in the history for the batch, which is one message. */
const BATCH_ROWS = 1

interface Beginning {
  agent: RuntimeAgent
  row: ThreadRow
  now: number
}

async function resume(
  deps: Deps,
  tx: Tx,
  { agent, row, cycle, now }: Beginning & { cycle: CycleRow },
): Promise<ActiveCycle> {
  const window = await readWindow(deps, tx, row, agent)
  if (cycle.note !== null) await forgetNote(tx, cycle.id)
  return new ActiveCycle(deps, {
    id: cycle.id,
    thread: row.id,
    fence: row.fence,
    agent,
    power: cycle.power,
    hasReadForeign: cycle.read_foreign === 1,
    account: { agent, cycle: cycle.id, tokens: tokensOfCycle(cycle), cutText: '' },
    startedAt: now,
    attempts: cycle.attempts,
    wasCut: cycle.parked_at === null && cycle.note === null,
    stopRequestedBy: cycle.stop_requested_by,
    target: cycle.reply_to,
    steps: cycle.steps,
    resting: toResting({ approvals: await openApprovalsOf(tx, row.id) }),
    window,
    windowStart: row.window_start,
    isIdle: false,
    items: await itemsOfCycle(tx, cycle.id),
    unseen: [],
    hasMore: true,
    suspendedAt: cycle.parked_at,
  })
}

type StartOfCall = Omit<Parameters<typeof reserveStart>[2], 'day'>
type Begin = Beginning & { reserve: (start: StartOfCall) => Promise<Reservation> }

async function begin(deps: Deps, tx: Tx, { agent, row: claimed, now, reserve }: Begin): Promise<Started> {
  const id = deps.newId('cyc')
  const thread = claimed.id
  const waiting = await nextItems(tx, thread)
  const isFresh = waiting.some(({ payload }) => payload.kind === 'reset')
  if (isFresh) await startFresh(deps, tx, { agent, row: claimed, now })
  const row = isFresh ? { ...claimed, window_start: claimed.last_seq } : claimed
  const lastSeq = row.last_seq - BATCH_ROWS
  const isLong = await isLongPause(tx, agent, thread, now)
  const window = await readWindow(deps, tx, { ...row, last_seq: lastSeq }, agent)
  const facts = await readFacts(deps, tx, { agent, thread, replyTo: null, now, window })
  const before = { agent, thread, window, anchor: undefined }
  const batch = await takeItemsInto(deps, tx, id, 'batch', { ...before, waiting, facts })
  const { items, hasMore, cut } = batch
  const isIdle =
    isLong || items.some(({ payload }) => payload.kind === 'message' && beginsTopic(payload.text))
  const notice = cut && (await appendTooLong(deps, tx, cut, now))
  const target = agent.task ? null : decideReplyTo(items, agent.conversations[0])
  const power = powerOf(items)
  const hasReadForeign =
    items.some(mayBeForeign) || tellsForeign(facts) || (await leftForeignUnseen(tx, thread))
  await createCycle(tx, {
    id,
    thread_id: thread,
    fence: row.fence,
    reply_to: target,
    power,
    read_foreign: hasReadForeign ? 1 : 0,
    started_at: now,
  })
  const fenced = { thread, cycle: id, fence: row.fence }
  const message = batch.message({ ...facts, power, replyTo: target })
  window.push(...(await appendHistory(tx, fenced, lastSeq, 0, [message], now)))
  const resting = toResting(facts)
  if (items.every(({ payload }) => payload.kind === 'reset')) {
    await endCycle(tx, id, { status: 'done', at: now })
    await releaseThread(tx, { ...fenced, resting }, now)
    return { notice }
  }
  const reservation = await reserve({ agent, thread, items, window })
  const cycle = new ActiveCycle(deps, {
    id,
    thread,
    fence: row.fence,
    agent,
    power,
    hasReadForeign,
    account: { agent, cycle: id, tokens: 0, cutText: '', reservation },
    startedAt: now,
    attempts: 1,
    wasCut: false,
    stopRequestedBy: null,
    target,
    steps: 0,
    resting,
    window,
    windowStart: row.window_start,
    isIdle,
    items,
    unseen: items,
    hasMore,
    suspendedAt: null,
  })
  return { cycle, notice }
}

/** Tells whether the last pause was so long that the agent's file (`idleReset`) wants summaries. */
async function isLongPause(tx: Tx, { idleReset }: RuntimeAgent, thread: string, now: number) {
  if (idleReset === undefined) return false
  const last = await lastCycleEnd(tx, thread)
  return last !== undefined && now - last >= idleReset
}
