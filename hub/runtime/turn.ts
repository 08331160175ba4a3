import type { Deadline } from '../core/clock.ts'
import type { Semaphore } from '../core/semaphore.ts'

/** A cycle's place among those that run at once. */
export interface Turn extends Disposable {
  /** No other cycle runs beside it. */
  readonly isAlone: boolean
  /** Lets others run beside it. */
  share(): void
  /** Gives the place to others; the returned function waits for one again. Throws when the hub stops. */
  leave(): () => Promise<void>
}

/** What a cycle has while it runs. */
export interface Running {
  /** Its minutes. */
  deadline?: Deadline
  turn?: Turn
  /** What servers have its model write is written and paid one after the other. */
  sampling?: Semaphore
}

/** Resolves when there is a place, or where it is to be alone when nobody else runs; rejects when `stopping` aborts before. */
export async function takeTurn(semaphore: Semaphore, stopping: AbortSignal, alone = false): Promise<Turn> {
  const apart = alone ? await semaphore.acquireAlone(stopping) : undefined
  let release: (() => void) | undefined = apart?.release ?? (await semaphore.acquire(stopping))
  let isAlone = alone
  let away = 0
  let hasEnded = false
  const end = () => {
    release?.()
    release = undefined
  }
  let coming: Promise<void> | undefined
  const comeBack = async () => {
    try {
      const place = await semaphore.acquire(stopping)
      // Meanwhile it may have ended, or left again.
      if (hasEnded || away > 0) place()
      else release = place
    } finally {
      coming = undefined
    }
  }
  return {
    get isAlone() {
      return isAlone
    },
    share() {
      isAlone = false
      apart?.share()
    },
    leave() {
      // A crash while it is alone is blamed on it, so nobody else may run meanwhile.
      if (isAlone) return async () => undefined
      if (away++ === 0) end()
      return async () => {
        if (--away > 0) return
        // Who waits for two places would wait for itself.
        coming ??= comeBack()
        await coming
      }
    },
    [Symbol.dispose]() {
      hasEnded = true
      end()
    },
  }
}

/** While the cycle waits for a person its minutes stand still, and others have its place. */
export function restWhile(claim: Running & { startedAt: number }): () => Promise<void> {
  const release = claim.deadline?.hold()
  const comeBack = claim.turn?.leave()
  return async () => {
    try {
      await comeBack?.()
    } finally {
      claim.startedAt += release?.() ?? 0
    }
  }
}
