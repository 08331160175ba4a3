import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { plural } from '../core/text.ts'
import { withDeadline } from './lost.ts'

/** Timeouts in a row after which a server counts as silent. */
const MANY = 3
/** Milliseconds without another timeout after which it no longer counts as silent. */
const QUIET_MS = 5 * 60_000
/** Milliseconds within which a live server answers a ping. */
export const PING_MS = 10_000

export interface SilenceDeps {
  clock: Clock
  /** Milliseconds that a call may take. */
  callTimeout: number
  signal: AbortSignal
  /** Pings; rejects with the signal's reason if nothing is answered. An error is an answer. */
  ping: (signal: AbortSignal) => Promise<unknown>
  /** Called when the silence began or ended. */
  onChange: () => void
  /** Called when the server does not even answer a ping. */
  onDeaf: (error: Error) => void
}

/** Watches how the calls of one connection end. */
export interface Silence extends Disposable {
  /** The reason why the server counts as silent; undefined while it does not. */
  readonly reason: string | undefined
  answered(): void
  failed(error: unknown): void
}

export function createSilence(deps: SilenceDeps): Silence {
  const { clock, callTimeout } = deps
  let count = 0
  let reason: string | undefined
  let cancelQuiet: () => void = () => undefined

  const answered = () => {
    count = 0
    if (reason === undefined) return
    reason = undefined
    cancelQuiet()
    deps.onChange()
  }
  const timedOut = () => {
    if (++count < MANY) return
    const began = reason === undefined
    reason = `${plural(count, 'call')} in a row got no answer within ${Math.round(callTimeout / 1000)} s`
    cancelQuiet()
    cancelQuiet = clock.after(QUIET_MS, answered)
    if (!began) return
    deps.onChange()
    void probe()
  }
  const probe = async () => {
    const limit = withDeadline(clock, Math.min(PING_MS, callTimeout), deps.signal)
    try {
      await deps.ping(limit.signal)
    } catch {
      if (limit.signal.aborted && !deps.signal.aborted)
        deps.onDeaf(new Error(`${reason ?? 'it was silent'}, and neither did a ping`))
    } finally {
      limit.cancel()
    }
  }
  return {
    get reason() {
      return reason
    },
    answered,
    failed(error) {
      if (!(error instanceof SdkError)) return answered()
      if (error.code === SdkErrorCode.RequestTimeout) timedOut()
    },
    [Symbol.dispose]: () => cancelQuiet(),
  }
}
