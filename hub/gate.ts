import type { Semaphore } from './core/semaphore.ts'
import type { CrashGuard } from './crash-guard.ts'
import type { Foundation } from './foundation.ts'

/** Lets cycles and the clock run: once the servers were heard of, and not while the agents are held. */
export interface Gate {
  /** Starts the clock, unless the agents are held: then it starts with their release. */
  startClock(): Promise<void>
  /** The servers were heard of. */
  open(): void
  /** Takes the number of cycles at once from the config. */
  resize(): void
}

export function openGate(
  { config, signals, log }: Pick<Foundation, 'config' | 'signals' | 'log'>,
  guard: CrashGuard,
  semaphore: Semaphore,
  stack: AsyncDisposableStack,
  run: { clock: () => Promise<AsyncDisposable>; approved: () => Promise<void> },
): Gate {
  // The hub's own stack is closed to newcomers once it has started; this one is not.
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
