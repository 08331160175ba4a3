import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { timeoutSignal } from '../core/clock.ts'
import { parseJson } from '../core/json.ts'
import { NeedsLogin } from './oauth/faults.ts'
import type { ServerSpec } from './server-spec.ts'

const LOST_CODES: readonly string[] = [
  SdkErrorCode.NotConnected,
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.SendFailed,
]
/** Codes of Node for a pipe or a socket whose other end is gone. */
const BROKEN: ReadonlySet<unknown> = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTCONN',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
])
/** What JSON-RPC servers answer for a session that there is not, which others use for other things too. */
const NO_SESSION = -32_001
/** A complaint about one request, whatever its words. */
const ABOUT_REQUEST: ReadonlySet<number> = new Set([-32_700, -32_601, -32_602, -32_020, -32_021, -32_022])
/** How servers refuse a session that they do not know; a restarted one misses the first request of it. */
const SESSION_WORDS = /session|not initialized/i
/** How a server says that what is behind it, or this connection to it, has to begin anew. */
const GONE_WORDS = /session not found|session (?:has )?expired|not connected|server not initialized/i

/** Whether a failed request says that the connection itself is gone: the process, the network, or the session. */
export function isLost(error: unknown, spec: ServerSpec): boolean {
  if (error instanceof SdkHttpError) return isLostAnswer(error.status, String(error.data['text'] ?? ''))
  if (error instanceof SdkError) return LOST_CODES.includes(error.code)
  if (error instanceof ProtocolError) {
    if (error.code === NO_SESSION) return SESSION_WORDS.test(error.message)
    return error.code === -32_000 && GONE_WORDS.test(error.message)
  }
  if (error instanceof NeedsLogin) return true
  // `fetch` throws a TypeError when it reached nobody.
  return hasBrokenCode(error) || (spec.transport.kind === 'http' && error instanceof TypeError)
}

/**
 * Whether an HTTP error is about the session, or a gateway's whose server is gone. A 404 may be the answer of
 * 2026-07-28 to one request, and a 400 a complaint about one; neither is a reason to begin anew.
 */
function isLostAnswer(status: number, text: string): boolean {
  if (status === 502 || status === 503) return true
  if (status !== 404 && status !== 400) return false
  const answer = toRpcError(text)
  if (answer) return !ABOUT_REQUEST.has(answer.code) && SESSION_WORDS.test(answer.message)
  return status === 404 || SESSION_WORDS.test(text)
}

function toRpcError(text: string): { code: number; message: string } | undefined {
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return undefined
  const { error } = parsed
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error))
    return undefined
  return typeof error.code === 'number' ? { code: error.code, message: String(error.message) } : undefined
}

function hasBrokenCode(error: unknown): boolean {
  return error instanceof Error && (('code' in error && BROKEN.has(error.code)) || hasBrokenCode(error.cause))
}

/** A signal that aborts with `outer`, or after `delay` milliseconds; `cancel` frees its timer. */
export function withDeadline(clock: Clock, delay: number, outer?: AbortSignal) {
  const timeout = timeoutSignal(clock, delay, 'Connecting')
  return {
    signal: outer ? AbortSignal.any([outer, timeout.signal]) : timeout.signal,
    cancel: timeout.cancel,
  }
}
