import type { AgentStatus } from '../../schemas/chat.ts'
import type { DueSource } from '../core/due.ts'
import { HubError } from '../core/errors.ts'
import type { Semaphore } from '../core/semaphore.ts'
import { releasingWrite } from '../store/history.ts'
import { readTokenFactors } from '../store/hub-state.ts'
import { dropLease, threadsWithWork } from '../store/threads.ts'
import { usageOfDay } from '../store/usage.ts'
import { StoreFault } from '../store/writer.ts'
import { createBackground } from './background.ts'
import { BROKEN, bury } from './bury.ts'
import { type Claim, claimCycle } from './claim.ts'
import { runCycle } from './cycle.ts'
import type { RuntimeAgent, RuntimeDeps, SampleFor } from './deps.ts'
import { createWaitingSource, releaseParked } from './due-threads.ts'
import { createKeptWindows } from './kept-windows.ts'
import { findTokensProblem } from './limits/cycle-tokens.ts'
import { createPlaces } from './limits/hold.ts'
import { createMeter } from './limits/meter.ts'
import { payApart } from './limits/metered-model.ts'
import { createSampling, toApprovedCall } from './questions/sampling.ts'
import { createStops, type Stops } from './stop.ts'
import { MustRunAlone } from './suspects.ts'
import { showAgent, tellEnd } from './tell.ts'
import { createTokenCounter } from './tokens.ts'
import { createToldTools } from './told-tools.ts'
import { type Turn, takeTurn } from './turn.ts'
import { type CycleWatch, createCycleWatch } from './watch.ts'

/** Runs the cycles of all threads. A thread that sleeps costs nothing here: no timer, no object, no query. */
export interface Runtime extends AsyncDisposable {
  /** Wakes every thread that has something to do. */
  wakeAll(): Promise<void>
  /** Runs the thread after a post: its cycle starts, or takes the item along. May be called at any time. */
  wake(thread: string): void
  /** Tells whether a cycle of the thread runs now. */
  isActive(thread: string): boolean
  /** The clock's sources for threads that wait and for cycles that do not stop. */
  readonly due: readonly DueSource[]
  /** Resumes cycles that wait for the provider, which answers again. */
  goOn(): Promise<void>
  /** Has an agent's model write for the server of an approved call. */
  readonly sampleFor: SampleFor
  /** Explains to people why a limit of the agent's file is not in force; undefined if all are. */
  problemOf(agent: RuntimeAgent): string | undefined
  /** Number of cycles that run or wait for their turn. */
  readonly busy: number
}

/** Milliseconds that cycles may take to reach a boundary when the hub ends. */
const STOP_MS = 6_000
/** Milliseconds until a thread is tried again after an error outside of any cycle, such as a full disk. */
const TRY_AGAIN_MS = 10_000

/**
 * Creates the runtime; `agentOf` names the agent of a thread. Disposing stops cycles at their next boundary;
 * a cycle that is cut goes on at the next start.
 */
export function createRuntime(
  given: Omit<RuntimeDeps, Equipment>,
  semaphore: Semaphore,
  agentOf: (thread: string) => string,
): Runtime {
  const stopping = new AbortController()
  const deps = equip(given, stopping.signal)
  const stops = createStops()
  const watch = createCycleWatch(deps)
  const later = new Map<string, () => void>()
  const active = new Map<string, { wokenAgain: boolean; done: Promise<void> }>()

  const dispatch = { deps, watch, stops, stopping: stopping.signal, semaphore }
  const work = async (thread: string, entry: { wokenAgain: boolean }) => {
    try {
      // An item that came during the cycle set `wokenAgain`; of earlier ones the cycle may have left some.
      let more: boolean
      do {
        entry.wokenAgain = false
        more = (await runTurn(dispatch, agentOf(thread), thread)) === 'more'
      } while (more || entry.wokenAgain)
    } finally {
      if (active.delete(thread)) deps.signals.emit('idle', { thread })
    }
  }
  const tryLater = (thread: string) => {
    later.get(thread)?.()
    const again = async () => {
      later.delete(thread)
      if (active.has(thread)) return
      await deps.store.write(tx => dropLease(tx, thread, deps.owner))
      wake(thread)
    }
    const run = () => {
      again().catch(error => {
        deps.log.error('thread_broke', { thread, error })
        if (!stopping.signal.aborted) tryLater(thread)
      })
    }
    later.set(thread, deps.clock.after(TRY_AGAIN_MS, run))
  }
  const wake = (thread: string) => {
    const running = active.get(thread)
    if (running) running.wokenAgain = true
    if (running || stopping.signal.aborted) return
    const entry = { wokenAgain: false, done: Promise.resolve() }
    active.set(thread, entry)
    entry.done = work(thread, entry).catch(error => {
      if (stopping.signal.aborted) return
      deps.log.error('thread_broke', { thread, error })
      tryLater(thread)
    })
  }
  const unsubscribe = deps.signals.on('stopRequested', request => {
    stops.request(request)
    wake(request.thread)
  })
  return {
    wake,
    isActive: thread => active.has(thread),
    due: [createWaitingSource(deps, wake), watch],
    goOn: () => releaseParked(deps, wake),
    sampleFor: (agent, cycle) => createSampling(deps, toApprovedCall(agent, cycle)),
    problemOf: agent => findTokensProblem(deps, agent),
    get busy() {
      return active.size
    },
    async wakeAll() {
      for (const thread of await threadsWithWork(deps.store.db)) wake(thread)
    },
    async [Symbol.asyncDispose]() {
      for (const cancel of later.values()) cancel()
      unsubscribe()
      stopping.abort(new HubError('unavailable', 'The hub is stopping'))
      await within(deps, [...active.values()].map(entry => entry.done).concat(deps.background.settled()))
    },
  }
}

/** Resolves when all promises have, or when STOP_MS are over. */
async function within({ clock }: RuntimeDeps, running: readonly Promise<void>[]): Promise<void> {
  const stopped = Promise.withResolvers<void>()
  const cancel = clock.after(STOP_MS, () => stopped.resolve())
  await Promise.race([Promise.all(running), stopped.promise])
  cancel()
}

/** The dependencies that a runtime makes for itself. */
type Equipment = 'windows' | 'toldTools' | 'tokens' | 'meter' | 'places' | 'background'

function equip(given: Omit<RuntimeDeps, Equipment>, stopping: AbortSignal): RuntimeDeps {
  const tokens = createTokenCounter()
  // Token factors are restored here, as a day is opened before the first call of a model is estimated.
  const meter = createMeter(async day => {
    tokens.restore(await readTokenFactors(given.store.db))
    return usageOfDay(given.store.db, day)
  })
  // The given object stays the prototype: its time zone may change while it runs.
  return Object.assign(Object.create(given) as typeof given, {
    meter,
    places: createPlaces(meter),
    windows: createKeptWindows(),
    toldTools: createToldTools(given.toolBox),
    tokens,
    background: createBackground(stopping, error => {
      if (!stopping.aborted) given.log.error('background_broke', { error })
    }),
  })
}

interface Dispatch {
  deps: RuntimeDeps
  watch: CycleWatch
  stops: Stops
  stopping: AbortSignal
  semaphore: Semaphore
}

/**
 * Runs one cycle in a turn of its own, and a suspect of a crash alone. The turn is given back after each
 * cycle, so that a busy thread does not keep the others waiting.
 */
async function runTurn(
  dispatch: Dispatch,
  name: string,
  thread: string,
  alone = false,
): Promise<'more' | 'all' | undefined> {
  try {
    using turn = await takeTurn(dispatch.semaphore, dispatch.stopping, alone)
    return await runOne(dispatch, turn, name, thread)
  } catch (error) {
    if (error instanceof MustRunAlone) return await runTurn(dispatch, name, thread, true)
    throw error
  }
}

/** Runs one cycle of the thread, and tells whether more waits; undefined if there is nothing to do. */
async function runOne(
  { deps, watch, stops, stopping }: Dispatch,
  turn: Turn,
  name: string,
  thread: string,
): Promise<'more' | 'all' | undefined> {
  const agent = deps.agent(name)
  const claim = agent && (await claimCycle(deps, agent, thread, { stopping, isAlone: turn.isAlone }))
  if (!claim) return void stops.forget(thread)
  claim.stop = stops.begin(claim)
  claim.turn = turn
  await deps.noteCycle()
  showAgent(deps, claim, 'active')
  try {
    await watch.guard(claim, runCycle(deps, claim, stopping))
    if (!claim.outcome) deps.windows.keep(thread, claim)
  } catch (error) {
    if (stopping.aborted) {
      await release(deps, claim)
      throw error
    }
    await breakOff(deps, claim, error)
  } finally {
    stops.end(claim.cycle)
    await leaveBudget(deps, claim, stopping)
  }
  const waits = claim.outcome === 'parked' || claim.outcome === 'held'
  if (!waits) tellEnd(deps, claim)
  showAgent(deps, claim, waits ? 'waiting' : statusAfter(claim))
  // A cycle that a limit defers is not taken again at once: it would run into the limit again.
  return claim.hasMore && claim.outcome !== 'held' ? 'more' : 'all'
}

function statusAfter({ outcome, resting }: Claim): AgentStatus {
  return outcome === 'dead' ? 'failed' : resting
}

/** Releases the lease at an orderly stop: a thread without one is no suspect of a crash at the next start. */
async function release(deps: RuntimeDeps, claim: Claim): Promise<void> {
  await deps.store.write(tx => releasingWrite(tx, claim, 0, deps.clock.now()))
}

/** Releases the cycle's reservations and writes down what it used, whichever way it went. */
async function leaveBudget(deps: RuntimeDeps, claim: Claim, stopping: AbortSignal): Promise<void> {
  deps.places.leave(claim.thread)
  const { unpaid } = claim
  if (!unpaid) return
  try {
    if (!stopping.aborted) await payApart(deps, claim)
  } catch (error) {
    // The process that took the thread over charges the call that it found cut.
    deps.log.warn('usage_not_written', { cycle: claim.cycle, error })
  } finally {
    deps.meter.release(unpaid.reservation)
  }
}

/** Ends the cycle after an error that nobody foresaw and says so, rather than running for ever. */
async function breakOff(deps: RuntimeDeps, claim: Claim, error: unknown): Promise<void> {
  deps.log.error('cycle_broke', { cycle: claim.cycle, thread: claim.thread, error })
  if (error instanceof HubError && error.code === 'conflict') return
  // A StoreFault is not the batch's fault: the cycle goes on once it can be written. An ended one stays so.
  if (error instanceof StoreFault || claim.endTold) throw error
  await bury(deps, claim, BROKEN)
}
