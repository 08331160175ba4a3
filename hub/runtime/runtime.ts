import type { DueSource } from '../core/due.ts'
import { HubError } from '../core/errors.ts'
import type { Span } from '../core/telemetry.ts'
import { readTokenFactors } from '../store/hub-state.ts'
import { agentOfThread, dropLease, threadsWithWork } from '../store/threads.ts'
import { usageOfDay } from '../store/usage.ts'
import { StoreFault } from '../store/writer.ts'
import type { ActiveCycle } from './active-cycle.ts'
import type { Background, RuntimeAgent, RuntimeDeps, SampleFor } from './deps.ts'
import { createWaitingSource, resumeWaiting } from './due-threads.ts'
import { deadLetter, UNEXPECTED } from './end-cycle.ts'
import { closeAccount } from './limits/account.ts'
import { findTokensProblem } from './limits/cycle-tokens.ts'
import { createMeter } from './limits/meter.ts'
import { createSampling, toApprovedCall } from './questions/sampling.ts'
import { runCycle } from './run-cycle.ts'
import type { Semaphore } from './semaphore.ts'
import { MustRunAlone, startCycle } from './start-cycle.ts'
import { Stops } from './stop.ts'
import { createTokenCounter } from './tokens.ts'
import { createToolLists } from './tool-lists.ts'
import { type CycleWatch, createCycleWatch } from './watch.ts'
import { type CycleWhy, createWhy } from './why.ts'

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
  resume(): Promise<void>
  /** Has an agent's model write for the server of an approved call. */
  readonly sampleFor: SampleFor
  /** Explains to people why a limit of the agent's file is not in force; undefined if all are. */
  problemOf(agent: RuntimeAgent): string | undefined
  /** Returns what a cycle sent and got, step by step. Throws `not_found`. */
  why(cycle: string): Promise<CycleWhy>
  /** Number of cycles that run or wait for their turn. */
  readonly busy: number
}

/** Milliseconds that cycles may take to reach a boundary when the hub ends. */
const STOP_MS = 6_000
/** Milliseconds until a thread is tried again after an error outside of any cycle, such as a full disk. */
const TRY_AGAIN_MS = 10_000

/**
 * Creates the runtime. Disposing stops cycles at their next boundary; a cycle that is cut goes on at the next
 * start.
 */
export function createRuntime(given: Omit<RuntimeDeps, OwnParts>, semaphore: Semaphore): Runtime {
  const stopping = new AbortController()
  const calls = new Set<Promise<void>>()
  const deps = addParts(given, { stopping: stopping.signal, calls })
  const stops = new Stops()
  const watch = createCycleWatch(deps.clock)
  const later = new Map<string, () => void>()
  const active = new Map<string, { wokenAgain: boolean; done: Promise<void> }>()

  const dispatch = { deps, watch, stops, stopping: stopping.signal, semaphore }
  const work = async (thread: string, entry: { wokenAgain: boolean }) => {
    try {
      // An item that came during the cycle set `wokenAgain`; of earlier ones the cycle may have left some.
      let more: boolean
      do {
        entry.wokenAgain = false
        more = await runTurn(dispatch, thread)
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
    const run = () => void again().catch(error => onBroken(thread, error))
    later.set(thread, deps.clock.after(TRY_AGAIN_MS, run))
  }
  const onBroken = (thread: string, error: unknown) => {
    if (stopping.signal.aborted) return
    deps.log.error('thread_broke', { thread, error })
    tryLater(thread)
  }
  const wake = (thread: string) => {
    const running = active.get(thread)
    if (running) running.wokenAgain = true
    if (running || stopping.signal.aborted) return
    const entry = { wokenAgain: false, done: Promise.resolve() }
    active.set(thread, entry)
    entry.done = work(thread, entry).catch(error => onBroken(thread, error))
  }
  const unsubscribe = deps.signals.on('stopRequested', request => {
    stops.request(request)
    wake(request.thread)
  })
  return {
    wake,
    isActive: thread => active.has(thread),
    due: [createWaitingSource(deps, wake), watch],
    resume: () => resumeWaiting(deps, wake),
    sampleFor: (agent, cycle) => createSampling(deps, toApprovedCall(agent, cycle)),
    problemOf: agent => findTokensProblem(deps, agent),
    why: createWhy(deps),
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
      const stopped = Promise.withResolvers<void>()
      const cancel = deps.clock.after(STOP_MS, () => stopped.resolve())
      const running = [...[...active.values()].map(entry => entry.done), ...calls]
      await Promise.race([Promise.all(running), stopped.promise])
      cancel()
    },
  }
}

/** The parts that a runtime makes for itself. */
type OwnParts = 'toolLists' | 'tokens' | 'meter' | 'background'

function addParts(
  given: Omit<RuntimeDeps, OwnParts>,
  { stopping, calls }: { stopping: AbortSignal; calls: Set<Promise<void>> },
): RuntimeDeps {
  const tokens = createTokenCounter()
  // Token factors are restored here, as a day is opened before the first call of a model is estimated.
  const meter = createMeter(async day => {
    tokens.restore(await readTokenFactors(given.store.db))
    return usageOfDay(given.store.db, day)
  })
  const onError = (error: unknown) => {
    if (!stopping.aborted) given.log.error('background_broke', { error })
  }
  const background: Background = {
    stopping,
    add(run) {
      const kept = run.catch(onError).finally(() => calls.delete(kept))
      calls.add(kept)
    },
  }
  // The given object stays the prototype: its time zone may change while it runs.
  return Object.assign(Object.create(given) as typeof given, {
    meter,
    toolLists: createToolLists(given.toolBox),
    tokens,
    background,
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
 * cycle, so that a busy thread does not keep the others waiting. Tells whether more is to be done at once.
 */
async function runTurn(dispatch: Dispatch, thread: string, isAlone = false): Promise<boolean> {
  const { semaphore, stopping } = dispatch
  const turn = isAlone
    ? await semaphore.acquireAlone(stopping)
    : { release: await semaphore.acquire(stopping), share: () => undefined }
  try {
    const { deps, stops } = dispatch
    const agent = deps.agent(agentOfThread(thread))
    const cycle = agent && (await startCycle(deps, agent, thread, { stopping, isAlone }))
    if (cycle) {
      cycle.share = turn.share
      return await runOne(dispatch, cycle)
    }
    stops.forget(thread)
    return false
  } catch (error) {
    if (!(error instanceof MustRunAlone)) throw error
  } finally {
    turn.release()
  }
  return runTurn(dispatch, thread, true)
}

async function runOne({ deps, watch, stops, stopping }: Dispatch, cycle: ActiveCycle): Promise<boolean> {
  cycle.stop = stops.begin(cycle)
  await deps.noteCycle()
  const show = (status: 'active' | 'waiting' | 'failed' | 'sleeping') => {
    // What an agent does is what its main thread does.
    if (!cycle.agent.task) deps.signals.emit('agent', { name: cycle.agent.name, status })
  }
  show('active')
  const span = beginSpan(deps, cycle)
  const { steps } = cycle
  try {
    await watch.guard(cycle, runCycle(deps, cycle, stopping))
  } catch (error) {
    if (stopping.aborted) {
      // A thread without a lease is no suspect of a crash at the next start.
      await cycle.release()
      throw error
    }
    await failUnexpected(cycle, error)
  } finally {
    stops.end(cycle.id)
    span.end(cycle.outcome ?? 'cut', { steps: cycle.steps - steps })
    await closeAccount(deps, cycle, stopping)
  }
  const { outcome } = cycle
  const isSuspended = outcome === 'waits_for_provider' || outcome === 'waits_for_budget'
  if (!isSuspended) cycle.announceEnd()
  show(isSuspended ? 'waiting' : outcome === 'dead' ? 'failed' : cycle.resting)
  // A cycle that a limit defers is not taken again at once: it would run into the limit again.
  return cycle.hasMore && outcome !== 'waits_for_budget'
}

/** Begins to measure a cycle; its trace is that of the newest message that has one. */
function beginSpan({ telemetry }: RuntimeDeps, cycle: ActiveCycle): Span<'cycle'> {
  const { id, thread, agent, target, items, unseen, startedAt } = cycle
  const waits = unseen.map(({ payload, at }) => ({
    kind: payload.kind,
    ms: Math.max(0, startedAt - (payload.kind === 'wake' && !payload.early ? payload.dueAt : at)),
  }))
  const traces = items.flatMap(({ payload }) => (payload.kind === 'message' ? (payload.trace ?? []) : []))
  const facts = { cycle: id, thread, agent: agent.name, conversation: target, waits }
  const span = telemetry.begin('cycle', facts, traces.at(-1))
  cycle.account.trace = span.trace
  return span
}

/** Ends the cycle after an error that nobody foresaw and says so, rather than running for ever. */
async function failUnexpected(cycle: ActiveCycle, error: unknown): Promise<void> {
  cycle.log.error('cycle_broke', { cycle: cycle.id, thread: cycle.thread, error })
  if (error instanceof HubError && error.code === 'conflict') return
  // A StoreFault is not the batch's fault: the cycle goes on once it can be written. An ended one stays so.
  if (error instanceof StoreFault || cycle.outcome !== undefined) throw error
  await deadLetter(cycle, UNEXPECTED)
}
