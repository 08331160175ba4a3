import type { DueSource } from '../core/due.ts'
import {
  dueThreads,
  earliestNotBefore,
  setNotBefore,
  suspendedThreads,
  type WaitingThread,
} from '../store/suspended.ts'
import type { RuntimeDeps } from './deps.ts'
import { LONGEST_WAIT_MS, TRY_AGAIN_MS } from './suspend.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'model'>

/**
 * Creates the source that wakes threads after their wait; while the provider is down one of them tries it.
 */
export function createWaitingSource(deps: Deps, wake: (thread: string) => void): DueSource {
  return {
    nextDue: () => earliestNotBefore(deps.store.db),
    async fire() {
      const now = deps.clock.now()
      const retryAt = deps.model('default').health?.retryAt() ?? now + TRY_AGAIN_MS
      const threads = await deps.store.write(async tx => {
        const { run, later } = decideWaiting(await dueThreads(tx, now), { now, isDown: isDown(deps) })
        await setNotBefore(tx, run, null)
        await setNotBefore(tx, later, Math.max(retryAt, now + 1))
        return run
      })
      for (const thread of threads) wake(thread)
    },
  }
}

function isDown({ model }: Deps): boolean {
  const providers = model('default').health?.providers() ?? []
  return providers.length > 0 && providers.every(({ state }) => state !== 'ok')
}

/** Decides which threads run now: while the provider is down one tries, and those that waited a day end. */
export function decideWaiting(
  due: readonly WaitingThread[],
  { now, isDown }: { now: number; isDown: boolean },
): { run: string[]; later: string[] } {
  let mayTry = true
  const run: string[] = []
  const later: string[] = []
  for (const { thread, suspendedAt } of due) {
    const isOver = suspendedAt !== null && now - suspendedAt >= LONGEST_WAIT_MS
    const waits = isDown && suspendedAt !== null && !isOver
    if (waits && !mayTry) later.push(thread)
    else run.push(thread)
    if (waits) mayTry = false
  }
  return { run, later }
}

/** Wakes every cycle that waits for the provider, which answers again. */
export async function resumeWaiting(
  deps: Pick<RuntimeDeps, 'store'>,
  wake: (thread: string) => void,
): Promise<void> {
  const threads = await suspendedThreads(deps.store.db)
  if (threads.length === 0) return
  await deps.store.write(tx => setNotBefore(tx, threads, null))
  for (const thread of threads) wake(thread)
}
