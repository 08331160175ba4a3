import type { Log } from '../core/log.ts'
import type { Signals } from '../core/signals.ts'
import type { CrashGuard } from './crash-guard.ts'
import type { Semaphore } from './semaphore.ts'

/** Starts the cycles and the clock: once the servers have settled, and not while the agents are held. */
export interface StartupBarrier {
  /** Starts the clock; while the agents are held, it starts with their release. */
  startClock(): Promise<void>
  /** Admits cycles, because the servers have settled. */
  open(): void
  /** Sets the number of concurrent cycles from the config. */
  resize(): void
}

export interface BarrierDeps {
  signals: Signals
  log: Log
  crashGuard: CrashGuard
  semaphore: Semaphore
  /** Returns the number of concurrent cycles. */
  concurrency: () => number
  startClock: () => Promise<AsyncDisposable>
  /** Runs approved calls. Called once, when the first cycles are admitted. */
  startApproved: () => Promise<void>
}

export function createStartupBarrier(deps: BarrierDeps, stack: AsyncDisposableStack): StartupBarrier {
  const { signals, log, crashGuard, semaphore } = deps
  // This stack takes a clock that starts later; the hub's own stack is closed to additions after the start.
  const late = stack.use(new AsyncDisposableStack())
  let isOpen = false
  let hasStarted = false
  const resize = () => {
    const isFree = isOpen && !crashGuard.hold
    semaphore.resize(isFree ? deps.concurrency() : 0)
    if (!isFree || hasStarted) return
    hasStarted = true
    deps.startApproved().catch(error => log.error('approvals_failed', { error }))
  }
  const startClock = async () => {
    if (!crashGuard.hold) late.use(await deps.startClock())
  }
  stack.defer(
    signals.on('released', ({ by }) => {
      log.warn('agents_released', { by })
      startClock().catch(error => log.error('clock_not_started', { error }))
      resize()
    }),
  )
  return {
    startClock,
    resize,
    open() {
      isOpen = true
      resize()
    },
  }
}
