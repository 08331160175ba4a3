import type { Clock } from '../core/clock.ts'
import { decideBackoff } from './backoff.ts'
import { type ConnectionState, decideCondition } from './connection-state.ts'
import type { Link } from './link.ts'
import { createSilence, type Silence } from './silence.ts'

export interface LinkWatchDeps {
  clock: Clock
  random: () => number
  /** Milliseconds that a call may take. */
  callTimeout: number
  signal: AbortSignal
  /** Called when the state may have changed. */
  onChange: () => void
  /** Called when the server answers nothing any more. */
  onDeaf: (error: Error) => void
}

/** Watches whether a connected server is `ready`, or `degraded` until what failed works again. */
export interface LinkWatch extends Pick<Silence, 'answered' | 'failed'>, Disposable {
  readonly state: ConnectionState
  /** Notes that lists were read or could not be; reads the unread ones again with back-off. */
  listed(): void
}

export function watchLink(
  link: Pick<Link, 'era' | 'transport' | 'unread' | 'ping' | 'readAgain'>,
  deps: LinkWatchDeps,
): LinkWatch {
  const silence = createSilence({ ...deps, ping: signal => link.ping(signal) })
  let rereads = 0
  let cancelReread: (() => void) | undefined
  const listed = () => {
    if (link.unread.size === 0) {
      rereads = 0
      cancelReread?.()
      cancelReread = undefined
    } else {
      cancelReread ??= deps.clock.after(decideBackoff(++rereads, deps.random), () => {
        cancelReread = undefined
        link.readAgain()
      })
    }
  }
  listed()
  return {
    get state() {
      return decideCondition(link, link.unread, silence.reason)
    },
    answered: silence.answered,
    failed: silence.failed,
    listed,
    [Symbol.dispose]() {
      cancelReread?.()
      silence[Symbol.dispose]()
    },
  }
}
