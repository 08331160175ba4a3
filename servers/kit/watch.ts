import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Watcher } from './server.ts'

/**
 * Polls the watcher now and then every `watcher.every` milliseconds, until the returned function is called. A
 * failure is told once, and so is the recovery.
 */
export function runWatcher(watcher: Watcher, clock: Clock, log: Log): () => void {
  let stopped = false
  let failing = false
  let cancel: (() => void) | undefined
  const poll = async () => {
    try {
      await watcher.poll()
      if (failing) log('info', 'watcher works again', { watcher: watcher.name })
      failing = false
    } catch (error) {
      if (!failing) log('warn', 'watcher failed, it goes on trying', { watcher: watcher.name, error })
      failing = true
    }
    if (!stopped) cancel = clock.after(watcher.every, () => void poll())
  }
  void poll()
  return () => {
    stopped = true
    cancel?.()
  }
}
