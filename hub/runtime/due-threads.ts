import type { DueSource } from '../core/due.ts'
import {
  dueThreads,
  earliestNotBefore,
  foreignLeases,
  parkedThreads,
  setNotBefore,
  type WaitingThread,
} from '../store/parked.ts'
import type { RuntimeDeps } from './deps.ts'
import { LONGEST_PARKED_MS, TRY_AGAIN_MS } from './park.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'model' | 'owner'>

/**
 * Creates the source that wakes threads after their wait; while the provider is down one of them tries it.
 */
export function createWaitingSource(deps: Deps, wake: (thread: string) => void): DueSource {
  return {
    nextDue: () => earliestNotBefore(deps.store.db),
    async fire() {
      const now = deps.clock.now()
      const { run, later } = decideWaiting(await dueThreads(deps.store.db, now), {
        now,
        isDown: isDown(deps),
      })
      const retryAt = deps.model('default').health?.retryAt() ?? now + TRY_AGAIN_MS
      await deps.store.write(async tx => {
        await setNotBefore(tx, run, null)
        await setNotBefore(tx, later, Math.max(retryAt, now + 1))
      })
      for (const thread of run) wake(thread)
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
  for (const { thread, parkedAt } of due) {
    const isOver = parkedAt !== null && now - parkedAt >= LONGEST_PARKED_MS
    const waits = isDown && parkedAt !== null && !isOver
    if (waits && !mayTry) later.push(thread)
    else run.push(thread)
    if (waits) mayTry = false
  }
  return { run, later }
}

/** Wakes every cycle that waits for the provider, which answers again. */
export async function releaseParked(
  deps: Pick<RuntimeDeps, 'store'>,
  wake: (thread: string) => void,
): Promise<void> {
  const threads = await parkedThreads(deps.store.db)
  if (threads.length === 0) return
  await deps.store.write(tx => setNotBefore(tx, threads, null))
  for (const thread of threads) wake(thread)
}

/** Creates the source that takes over cycles of another process whose lease ran out. */
export function createLeaseSource(deps: Deps, wake: (thread: string) => void): DueSource {
  const tried = new Set<string>()
  const open = async () =>
    (await foreignLeases(deps.store.db, deps.owner)).filter(
      ({ thread, until }) => !tried.has(`${thread}@${until}`),
    )
  return {
    async nextDue() {
      const [first] = await open()
      return first && first.until + 1
    },
    async fire() {
      for (const { thread, until } of await open()) {
        if (until >= deps.clock.now()) return
        tried.add(`${thread}@${until}`)
        wake(thread)
      }
    },
  }
}
