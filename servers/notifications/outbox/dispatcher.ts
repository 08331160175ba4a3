import type { Database } from 'better-sqlite3'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Sender } from '../channels/channel.ts'
import type { ChannelConfig } from '../config/channel-entry.ts'
import { claimNext, findNextDue } from './claim.ts'
import { deliver } from './deliver.ts'
import { resume } from './finish.ts'

const TRY_LIMIT = 45_000
/** Milliseconds to wait after a database error. */
const FAULT_PAUSE = 30_000
const END_LIMIT = 3_000

export interface DispatcherDeps {
  database: Database
  channels: readonly { config: ChannelConfig; sender: Sender }[]
  clock: Clock
  log: Log
  random: () => number
  timezone: string
}

export type Dispatcher = ReturnType<typeof startDispatcher>

/**
 * Starts to send due messages: one at a time on each channel, the channels in parallel, with one timer for
 * the next due time. It also resumes the messages of an earlier process.
 */
export function startDispatcher(deps: DispatcherDeps) {
  const { database, channels, clock, log } = deps
  const names = channels.map(({ config }) => config.name)
  const ending = new AbortController()
  const running = new Map<string, Promise<void>>()
  const listeners = new Set<() => void>()
  let cancelTimer = (): void => undefined
  let isEnding = false

  const setTimer = (delay: number) => {
    cancelTimer()
    if (!isEnding) cancelTimer = clock.after(delay, wake)
  }
  const toFault = (error: unknown) => {
    log('error', 'outbox not usable', { error })
    setTimer(FAULT_PAUSE)
  }
  const drain = async ({ config, sender }: DispatcherDeps['channels'][number]) => {
    while (!isEnding) {
      const claim = claimNext(database, config, clock.now())
      if (claim === undefined) break
      const limit = new AbortController()
      const cancel = clock.after(TRY_LIMIT, () => limit.abort(toTooSlow(config)))
      const signal = AbortSignal.any([ending.signal, limit.signal])
      await deliver(deps, sender, claim, signal).finally(cancel)
      for (const listener of listeners) listener()
    }
    const due = isEnding ? undefined : findNextDue(database, names)
    if (due !== undefined) setTimer(Math.max(0, due - clock.now()))
  }
  const wake = () => {
    for (const channel of isEnding ? [] : channels) {
      const { name } = channel.config
      if (running.has(name)) continue
      const done = drain(channel)
        .catch(toFault)
        .finally(() => {
          running.delete(name)
          for (const listener of listeners) listener()
        })
      running.set(name, done)
    }
  }
  try {
    resume(database, names, clock.now())
  } catch (error) {
    toFault(error)
  }
  wake()
  return {
    /** Starts sending; call it after a message was accepted. Never throws. */
    wake,
    /** Calls `listener` after every try; returns a function that stops this. */
    onTried(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Waits briefly for running tries, then aborts them; the next process tries them again. */
    async [Symbol.asyncDispose]() {
      isEnding = true
      cancelTimer()
      const cancel = clock.after(END_LIMIT, () => ending.abort(new Error('the server ends')))
      await Promise.all(running.values())
      cancel()
    },
  }
}

function toTooSlow({ name, where }: ChannelConfig): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'timeout',
    what: `The channel ${name} did not take it in time.`,
    where,
    why: 'the try took too long and was stopped',
    fix: 'It is tried again by itself; if it stays so, look whether the upstream hangs.',
    transient: true,
  })
}
