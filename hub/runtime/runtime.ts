import { HubError } from '../core/errors.ts'
import type { Semaphore } from '../core/semaphore.ts'
import { threadsWithWork } from '../store/threads.ts'
import { type Claim, claimCycle } from './claim.ts'
import { runCycle } from './cycle.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { fail } from './finish.ts'
import { createKeptWindows } from './kept-windows.ts'
import { createTokenCounter } from './tokens.ts'

/** Runs the cycles of all threads. A thread that sleeps is nothing here: no timer, no object, no query. */
export interface Runtime extends AsyncDisposable {
  /** Wakes every thread that has something to do. */
  wakeAll(): Promise<void>
  /** Something was posted: the thread's cycle starts, or takes it along. May be called at any time. */
  wake(thread: string): void
  /** Whether a cycle of the thread runs now. */
  isActive(thread: string): boolean
  /** How many cycles run or wait for their turn. */
  readonly busy: number
}

/** How long cycles may take to reach a boundary when the hub ends. */
const STOP_MS = 6_000

/** `agentOf` names the agent of a thread. Disposing stops at the next boundary; what is cut goes on at the next start. */
export function createRuntime(
  given: Omit<RuntimeDeps, 'windows' | 'tokens'>,
  semaphore: Semaphore,
  agentOf: (thread: string) => string,
): Runtime {
  const deps = { ...given, windows: createKeptWindows(), tokens: createTokenCounter() }
  const stopping = new AbortController()
  const active = new Map<string, { wokenAgain: boolean; done: Promise<void> }>()

  // Its place is given back after each cycle, so that a busy thread does not keep the others waiting.
  const takeTurn = async (thread: string) => {
    const release = await semaphore.acquire(stopping.signal)
    try {
      return await runOne(deps, agentOf(thread), thread, stopping.signal)
    } finally {
      release()
    }
  }
  const work = async (thread: string, entry: { wokenAgain: boolean }) => {
    try {
      // What comes while a cycle runs has woken it again; after one that a crash had cut more may wait than it took.
      let more: boolean
      do {
        entry.wokenAgain = false
        more = (await takeTurn(thread)) === 'resumed'
      } while (more || entry.wokenAgain)
    } finally {
      active.delete(thread)
    }
  }
  const wake = (thread: string) => {
    const running = active.get(thread)
    if (running) running.wokenAgain = true
    if (running || stopping.signal.aborted) return
    const entry = { wokenAgain: false, done: Promise.resolve() }
    active.set(thread, entry)
    entry.done = work(thread, entry).catch(error => {
      if (!stopping.signal.aborted) deps.log.error('thread_broke', { thread, error })
    })
  }
  return {
    wake,
    isActive: thread => active.has(thread),
    get busy() {
      return active.size
    },
    async wakeAll() {
      for (const thread of await threadsWithWork(deps.store.db)) wake(thread)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new HubError('unavailable', 'The hub is stopping'))
      const stopped = Promise.withResolvers<void>()
      const cancel = deps.clock.after(STOP_MS, () => stopped.resolve())
      await Promise.race([Promise.all([...active.values()].map(entry => entry.done)), stopped.promise])
      cancel()
    },
  }
}

/** One cycle of the thread, new or the rest of one; undefined where there is nothing to do. */
async function runOne(
  deps: RuntimeDeps,
  name: string,
  thread: string,
  stopping: AbortSignal,
): Promise<Claim['kind'] | undefined> {
  const agent = deps.agent(name)
  const claim = agent && (await claimCycle(deps, agent, thread))
  if (!claim) return undefined
  deps.signals.emit('agent', { name, status: 'active' })
  try {
    await runCycle(deps, claim, stopping)
    deps.windows.keep(thread, claim)
  } catch (error) {
    if (stopping.aborted) throw error
    await breakOff(deps, claim, error)
  }
  deps.signals.emit('cycleEnded', { cycle: claim.cycle, thread })
  announceRest(deps, agent, claim)
  return claim.kind
}

function announceRest(deps: RuntimeDeps, agent: RuntimeAgent, claim: Claim): void {
  deps.signals.emit('agent', { name: agent.name, status: claim.resting })
}

/** An error that nobody foresaw: the cycle ends and says so, rather than running for ever. */
async function breakOff(deps: RuntimeDeps, claim: Claim, error: unknown): Promise<void> {
  deps.log.error('cycle_broke', { cycle: claim.cycle, thread: claim.thread, error })
  if (error instanceof HubError && error.code === 'conflict') return
  const text =
    'Something went wrong inside the hub while I worked on this; its log says what. Write again to have me go on.'
  await fail(deps, claim, { kind: 'error', text })
}
