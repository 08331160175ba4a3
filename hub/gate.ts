import type { Semaphore } from './core/semaphore.ts'
import type { CrashGuard } from './crash-guard.ts'
import type { Foundation } from './foundation.ts'

/** Starts the cycles and the clock: once the servers have settled, and not while the agents are held. */
export interface Gate {
  /** Starts the clock; while the agents are held, it starts with their release. */
  startClock(): Promise<void>
  /** Admits cycles, because the servers have settled. */
  open(): void
  /** Sets the number of concurrent cycles from the config. */
  resize(): void
}

export function openGate(
  { config, signals, log }: Pick<Foundation, 'config' | 'signals' | 'log'>,
  guard: CrashGuard,
  semaphore: Semaphore,
  stack: AsyncDisposableStack,
  run: { clock: () => Promise<AsyncDisposable>; approved: () => Promise<void> },
): Gate {
  // This stack takes a clock that starts later; the hub's own stack is closed to additions after the start.
  const late = stack.use(new AsyncDisposableStack())
  let isOpen = false
  let hasBegun = false
  const resize = () => {
    const isFree = isOpen && !guard.hold
    semaphore.resize(isFree ? config.current.concurrency : 0)
    if (!isFree || hasBegun) return
    hasBegun = true
    run.approved().catch(error => log.error('approvals_failed', { error }))
  }
  const startClock = async () => {
    if (!guard.hold) late.use(await run.clock())
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
