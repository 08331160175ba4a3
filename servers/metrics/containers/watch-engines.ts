import type { Log } from '../../kit/log.ts'
import type { Watcher } from '../../kit/server.ts'
import { runWatcher } from '../../kit/watch.ts'
import type { Sources } from './sources.ts'
import { createContainerFollower, type WatchDeps } from './watch.ts'

/**
 * Milliseconds between two searches for engines that were started meanwhile. Looking for a socket costs
 * nothing.
 */
const EVERY = 60_000

/** Creates a watcher that follows every engine, and each that comes later, until it is disposed of. */
export function createEngineWatcher(
  sources: Pick<Sources, 'engines'>,
  deps: WatchDeps & { log: Log },
): Watcher & Disposable {
  const following = new Map<string, () => void>()
  let ended = false
  return {
    name: 'container engines',
    every: EVERY,
    async poll() {
      for (const engine of ended ? [] : sources.engines()) {
        const key = `${engine.name} ${engine.address}`
        if (following.has(key)) continue
        following.set(key, runWatcher(createContainerFollower(engine, deps), deps.clock, deps.log))
      }
    },
    [Symbol.dispose]() {
      ended = true
      for (const stop of following.values()) stop()
    },
  }
}
