import { type Clock, decideBackOff, sleep } from './clock.ts'
import { ToolFailure } from './failure.ts'
import type { Log } from './log.ts'
import type { Follower, Watcher } from './server.ts'

/** Longest pause in milliseconds between two polls that fail. */
const LONGEST_POLL_PAUSE = 5 * 60_000
/** Pauses in milliseconds between two connections; one that lasted for the longest pause starts anew. */
const CONNECT_PAUSE = { shortest: 1000, longest: 60_000 }

/**
 * Polls or follows until the returned function is called. While a watcher's polls fail, its pauses double up
 * to five minutes; a follower connects again after pauses that double from a second to a minute. An outage is
 * logged once, with where and why, and so is the recovery.
 */
export function runWatcher(
  watcher: Watcher | Follower,
  clock: Clock,
  log: Log,
  random = Math.random,
): () => void {
  const ending = new AbortController()
  const { signal } = ending
  const { name, startAfter } = watcher
  let failures = 0
  let isDown = false
  const onWorks = () => {
    if (isDown) log('info', 'watcher works again', { watcher: name })
    isDown = false
  }
  const onFailure = (event: string, error: unknown) => {
    if (!isDown && !signal.aborted) log('warn', event, { watcher: name, ...toLogFields(error) })
    isDown = true
  }

  /** Returns the milliseconds until the next poll. */
  const poll = async (polled: Watcher): Promise<number> => {
    try {
      await polled.poll()
      onWorks()
      failures = 0
      return polled.every
    } catch (error) {
      onFailure('watcher failed, it goes on trying', error)
      return decideBackOff(++failures, polled.every, LONGEST_POLL_PAUSE, random())
    }
  }
  /** Returns the milliseconds until the next connection. */
  const follow = async (follower: Follower): Promise<number> => {
    const { shortest, longest } = CONNECT_PAUSE
    let since: number | undefined
    const onReady = () => {
      since = clock.monotonic()
      onWorks()
    }
    const error = await follower.follow(signal, onReady).then(
      () => 'the other side ended it',
      (thrown: unknown) => thrown,
    )
    onFailure('watcher lost its connection, it goes on trying', error)
    failures = since !== undefined && clock.monotonic() - since >= longest ? 1 : failures + 1
    return decideBackOff(failures, shortest, longest, random())
  }
  const run = async () => {
    if (startAfter !== undefined) await sleep(clock, startAfter, signal)
    while (!signal.aborted) {
      await sleep(clock, 'follow' in watcher ? await follow(watcher) : await poll(watcher), signal)
    }
  }
  void run().catch(error => {
    if (!signal.aborted) throw error
  })
  return () => ending.abort()
}

/** Returns the log fields of an error: with where and why for a ToolFailure. */
function toLogFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof ToolFailure)) return { error }
  const { where, why } = error.failure
  return { error, where, why }
}
