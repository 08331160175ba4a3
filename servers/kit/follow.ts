import { decideBackOff } from './backoff.ts'
import { type Clock, sleep } from './clock.ts'
import type { Log } from './log.ts'
import type { Follower, Watcher } from './server.ts'
import { runWatcher, toLogFields } from './watch.ts'

const SHORTEST_PAUSE = 1000
const LONGEST_PAUSE = 60_000

/**
 * Follows until the returned function is called, and reconnects after every end, with pauses that double from
 * a second to a minute. A connection that lasted a minute resets the pauses. An outage is logged once, and so
 * is its end.
 */
export function runFollower(follower: Follower, clock: Clock, log: Log, random = Math.random): () => void {
  const ending = new AbortController()
  let failures = 0
  let told = false
  let since: number | undefined

  const ready = () => {
    since = clock.monotonic()
    if (told) log('info', 'watcher works again', { watcher: follower.name })
    told = false
  }
  const tell = (fields: Record<string, unknown>) => {
    if (!told)
      log('warn', 'watcher lost its connection, it goes on trying', { watcher: follower.name, ...fields })
    told = true
  }
  const once = async () => {
    since = undefined
    const fields = await follower
      .follow(ending.signal, ready)
      .then(() => ({ error: 'the other side ended it' }))
      .catch(toLogFields)
    if (ending.signal.aborted) return
    failures = since !== undefined && clock.monotonic() - since >= LONGEST_PAUSE ? 1 : failures + 1
    tell(fields)
    await sleep(clock, decideBackOff(failures, SHORTEST_PAUSE, LONGEST_PAUSE, random()), ending.signal)
  }
  const run = async () => {
    while (!ending.signal.aborted) await once().catch(error => ending.signal.aborted || tell({ error }))
  }
  void run()
  return () => ending.abort()
}

/** Runs a watcher or a follower until the returned function is called. */
export function runWatching(watcher: Watcher | Follower, clock: Clock, log: Log): () => void {
  return 'follow' in watcher ? runFollower(watcher, clock, log) : runWatcher(watcher, clock, log)
}
