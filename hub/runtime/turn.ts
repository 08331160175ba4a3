import type { Semaphore } from '../core/semaphore.ts'

/** A cycle's place among those that run at once. */
export interface Turn extends Disposable {
  /** No other cycle runs beside it. */
  readonly isAlone: boolean
  /** Lets others run beside it. */
  share(): void
}

/** Resolves when there is a place, or where it is to be alone when nobody else runs; rejects when `stopping` aborts before. */
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
