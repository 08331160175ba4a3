import { decideBackOff } from './backoff.ts'
import type { Clock } from './clock.ts'
import { ToolFailure } from './failure.ts'
import type { Log } from './log.ts'
import type { Watcher } from './server.ts'

const LONGEST_PAUSE = 5 * 60_000

/**
 * Polls the watcher at once and then every `watcher.every` milliseconds, until the returned function is
 * called. While it fails, the pauses double up to five minutes. An outage is logged once, with where and why,
 * and so is the recovery.
 */
export function runWatcher(watcher: Watcher, clock: Clock, log: Log, random = Math.random): () => void {
  let stopped = false
  let failures = 0
  let cancel: (() => void) | undefined
  const poll = async () => {
    try {
      await watcher.poll()
      if (failures > 0) log('info', 'watcher works again', { watcher: watcher.name })
      failures = 0
    } catch (error) {
      failures++
      if (failures === 1 && !stopped) {
        log('warn', 'watcher failed, it goes on trying', { watcher: watcher.name, ...toLogFields(error) })
      }
    }
    const pause =
      failures === 0 ? watcher.every : decideBackOff(failures, watcher.every, LONGEST_PAUSE, random())
    if (!stopped) cancel = clock.after(pause, () => void poll())
  }
  void poll()
  return () => {
    stopped = true
    cancel?.()
  }
}

/** Returns the log fields of an error: with where and why for a ToolFailure. */
export function toLogFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof ToolFailure)) return { error }
  const { where, why } = error.failure
  return { error, where, why }
}
