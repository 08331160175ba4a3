import type { Clock } from '../../core/clock.ts'

/** Aborts one call of a provider when its caller does, when a wait takes too long, or when disposed of. */
export interface CallWatch extends Disposable {
  /** Signal of the call; its reason is the caller's, or the error of the wait that took too long. */
  readonly signal: AbortSignal
  /** Limits the wait that begins now; the limit replaces the one before. */
  within(delay: number, toError: () => Error): void
}

/** Made only once, since an abort without a reason makes an exception with a stack. */
const OVER = new Error('The call is over')

export function createCallWatch(clock: Clock, caller: AbortSignal): CallWatch {
  const controller = new AbortController()
  const onAbort = () => controller.abort(caller.reason)
  let cancel: (() => void) | undefined
  if (caller.aborted) onAbort()
  else caller.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    within(delay, toError) {
      cancel?.()
      cancel = clock.after(delay, () => controller.abort(toError()))
    },
    [Symbol.dispose]() {
      cancel?.()
      caller.removeEventListener('abort', onAbort)
      controller.abort(OVER)
    },
  }
}
