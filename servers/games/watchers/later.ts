import { type Clock, sleep } from '../../kit/clock.ts'
import type { Follower, Watcher } from '../../kit/server.ts'

/** Milliseconds. */
const HEAD_START = 500

/**
 * Delays a watcher's first run: it loads clients of engines and games, and this server's client should get
 * its tools before.
 */
export function beginLater(watching: Watcher | Follower, clock: Clock): Watcher | Follower {
  let begun = false
  const begin = async (signal?: AbortSignal) => {
    if (!begun) await sleep(clock, HEAD_START, signal)
    begun = true
  }
  if ('follow' in watching) {
    const follow: Follower['follow'] = async (signal, ready) => {
      await begin(signal)
      await watching.follow(signal, ready)
    }
    return { name: watching.name, follow }
  }
  const poll = async () => {
    await begin()
    await watching.poll()
  }
  return { name: watching.name, every: watching.every, poll }
}
