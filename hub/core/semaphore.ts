/** At most `size` holders at once; the others wait in order of arrival. */
export interface Semaphore {
  /** Resolves with the function that gives the place back (once). Rejects when `signal` aborts while waiting. */
  acquire(signal?: AbortSignal): Promise<() => void>
  /** Changes how many may hold it; those that hold it go on. */
  resize(size: number): void
}

export function createSemaphore(size: number): Semaphore {
  let capacity = size
  let held = 0
  const waiting: (() => void)[] = []
  const admit = () => {
    while (held < capacity) {
      const next = waiting.shift()
      if (!next) return
      held++
      next()
    }
  }
  const createRelease = () => {
    let mine = true
    return () => {
      if (!mine) return
      mine = false
      held--
      admit()
    }
  }
  return {
    acquire(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason)
      if (held < capacity) {
        held++
        return Promise.resolve(createRelease())
      }
      return new Promise((resolve, reject) => {
        const grant = () => {
          signal?.removeEventListener('abort', onAbort)
          resolve(createRelease())
        }
        const onAbort = () => {
          waiting.splice(waiting.indexOf(grant), 1)
          reject(signal?.reason)
        }
        waiting.push(grant)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
    resize(next) {
      capacity = next
      admit()
    },
  }
}
