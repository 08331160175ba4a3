import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'

/** Milliseconds after a notification in which further ones are joined. */
const JOIN_MS = 100

/** Notifications of many things. The first after a quiet time is sent at once, the last of a burst always. */
export interface JoinedNews extends Disposable {
  /** Calls `tell` now or soon, once for all that is added meanwhile under the same key. */
  add(key: string, tell: () => void): void
}

/** Creates JoinedNews with one timer at most, none in quiet times. Disposing drops what still waits. */
export function joinNews({ clock, log }: { clock: Clock; log: Log }): JoinedNews {
  let waiting = new Map<string, () => void>()
  let cancel: (() => void) | undefined
  const notifyOne = (key: string, tell: () => void) => {
    try {
      tell()
    } catch (error) {
      log.error('news_not_told', { key, error })
    }
  }
  const rest = () => {
    cancel = clock.after(JOIN_MS, () => {
      const all = waiting
      waiting = new Map()
      cancel = undefined
      if (all.size > 0) rest()
      for (const [key, tell] of all) notifyOne(key, tell)
    })
  }
  return {
    add(key, tell) {
      if (cancel) return void waiting.set(key, tell)
      rest()
      notifyOne(key, tell)
    },
    [Symbol.dispose]() {
      cancel?.()
      waiting.clear()
    },
  }
}
