/** Admits at most `size` holders at once, or one exclusive holder; the others wait in order of arrival. */
export interface Semaphore {
  /** Resolves with the function that releases it (once). Rejects when `signal` aborts while waiting. */
  acquire(signal?: AbortSignal): Promise<() => void>
  /** Waits until there is no holder, then keeps others out until the place is shared or released. */
  acquireAlone(signal?: AbortSignal): Promise<AlonePlace>
  /** Changes how many may hold the semaphore; its present holders keep it. */
  resize(size: number): void
}

export interface AlonePlace {
  /** Admits others beside this holder. May be called again. */
  share(): void
  /** Releases the semaphore, once. */
  release(): void
}

export function createSemaphore(size: number): Semaphore {
  let capacity = size
  let held = 0
  let isAlone = false
  const waiting: { alone: boolean; grant: () => void }[] = []
  const hasRoom = (alone: boolean) => !isAlone && (alone ? held === 0 && capacity > 0 : held < capacity)
  const admit = () => {
    for (let next = waiting[0]; next && hasRoom(next.alone); next = waiting[0]) {
      waiting.shift()
      take(next.alone)
      next.grant()
    }
  }
  const take = (alone: boolean) => {
    held++
    isAlone = alone
  }
  const createPlace = (alone: boolean): AlonePlace => {
    let mine = true
    let apart = alone
    const share = () => {
      if (!apart) return
      apart = false
      isAlone = false
      admit()
    }
    return {
      share,
      release() {
        if (!mine) return
        mine = false
        held--
        if (apart) share()
        else admit()
      },
    }
  }
  const enter = <Place>(
    alone: boolean,
    signal: AbortSignal | undefined,
    make: () => Place,
  ): Promise<Place> => {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (waiting.length === 0 && hasRoom(alone)) {
      take(alone)
      return Promise.resolve(make())
    }
    return new Promise((resolve, reject) => {
      const grant = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve(make())
      }
      const entry = { alone, grant }
      const onAbort = () => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(signal?.reason)
        admit()
      }
      waiting.push(entry)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }
  return {
    acquire: signal => enter(false, signal, () => createPlace(false).release),
    acquireAlone: signal => enter(true, signal, () => createPlace(true)),
    resize(next) {
      capacity = next
      admit()
    },
  }
}
