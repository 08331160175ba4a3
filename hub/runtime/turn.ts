import type { Semaphore } from '../core/semaphore.ts'

/** A cycle's permit to run, of those that run at once. */
export interface Turn extends Disposable {
  /** Whether no other cycle runs beside it. */
  readonly isAlone: boolean
  /** Lets others run beside it. */
  share(): void
}

/**
 * Resolves when a permit is free or, with `alone`, when no other cycle runs; rejects when `stopping` aborts
 * before.
 */
export async function takeTurn(semaphore: Semaphore, stopping: AbortSignal, alone = false): Promise<Turn> {
  if (!alone) {
    const release = await semaphore.acquire(stopping)
    return { isAlone: false, share: () => undefined, [Symbol.dispose]: release }
  }
  const apart = await semaphore.acquireAlone(stopping)
  let isAlone = true
  return {
    get isAlone() {
      return isAlone
    },
    share() {
      isAlone = false
      apart.share()
    },
    [Symbol.dispose]: apart.release,
  }
}
