import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { timeoutSignal } from '../core/clock.ts'
import type { ServerSpec } from './server-spec.ts'

const LOST_CODES: readonly string[] = [
  SdkErrorCode.NotConnected,
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.SendFailed,
]

/** Whether a failed request says that the connection itself is gone: the process, the network, or the session. */
export function isLost(error: unknown, spec: ServerSpec): boolean {
  if (error instanceof SdkHttpError)
    return error.status === 404 || error.status === 400 || error.status >= 502
  if (error instanceof SdkError) return LOST_CODES.includes(error.code)
  // `fetch` throws a TypeError when it reached nobody.
  return spec.transport.kind === 'http' && error instanceof TypeError
}

/** A signal that aborts with `outer`, or after `delay` milliseconds; `cancel` frees its timer. */
export function withDeadline(clock: Clock, delay: number, outer?: AbortSignal) {
  const timeout = timeoutSignal(clock, delay, 'Connecting')
  return {
    signal: outer ? AbortSignal.any([outer, timeout.signal]) : timeout.signal,
    cancel: timeout.cancel,
  }
}
