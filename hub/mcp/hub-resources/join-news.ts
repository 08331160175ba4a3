import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'

/** What comes within so long after something was told is told together, milliseconds. */
const JOIN_MS = 100

/** News of many things, of which each is told at once in a quiet time, and the last of a burst always. */
export interface JoinedNews extends Disposable {
  /** `tell` is called now or soon, once for all that is added meanwhile under the same key. */
  add(key: string, tell: () => void): void
}

/** With one timer at most, and none while nothing happens. Disposing drops what was not told yet. */
export function joinNews({ clock, log }: { clock: Clock; log: Log }): JoinedNews {
  let waiting = new Map<string, () => void>()
  let cancel: (() => void) | undefined
  const tellOne = (key: string, tell: () => void) => {
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
      for (const [key, tell] of all) tellOne(key, tell)
    })
  }
  return {
    add(key, tell) {
      if (cancel) return void waiting.set(key, tell)
      rest()
      tellOne(key, tell)
    },
    [Symbol.dispose]() {
      cancel?.()
      waiting.clear()
    },
  }
}
