import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { NeedsLogin } from './oauth/faults.ts'
import type { ServerSpec } from './server-spec.ts'

const LOST_CODES: readonly string[] = [SdkErrorCode.NotConnected, SdkErrorCode.SendFailed]
const CLOSED_CODES: readonly string[] = [...LOST_CODES, SdkErrorCode.ConnectionClosed]
/** Codes of Node for an address at which nobody listens. */
const REFUSED: ReadonlySet<unknown> = new Set(['ECONNREFUSED'])
/** Codes of Node for a pipe or a socket whose other end is gone. */
const BROKEN: ReadonlySet<unknown> = new Set([
  'ECONNABORTED',
  'ECONNRESET',
  'ENOTCONN',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
])
/** HTTP statuses with which a gateway says that it did not reach the server, or takes no more for now. */
const FROM_GATEWAY: ReadonlySet<number> = new Set([502, 503, 504])
/** The JSON-RPC code with which servers answer for an unknown session, and some for other things too. */
const NO_SESSION = -32_001
/** JSON-RPC codes that concern one request only, whatever the message says. */
const ABOUT_REQUEST: ReadonlySet<number> = new Set([-32_700, -32_601, -32_602, -32_020, -32_021, -32_022])
/** Words with which servers refuse an unknown session; a restarted one has not seen its first request. */
const SESSION_WORDS = /session|not initialized/i
/** Words with which a server says that this connection, or what is behind the server, has to begin anew. */
const GONE_WORDS = /session not found|session (?:has )?expired|not connected|server not initialized/i

/**
 * The meaning of a failed request for the connection itself. `lost`: the process, the network or the session
 * is gone. `in doubt`: it may be gone, or only this request met a busy gateway or a broken socket.
 */
export type Loss = 'lost' | 'in doubt' | undefined

export function decideLoss(error: unknown, { transport }: Pick<ServerSpec, 'transport'>): Loss {
  if (error instanceof SdkHttpError) return lossOfAnswer(error.status, String(error.data['text'] ?? ''))
  if (isGone(error) || hasCode(error, REFUSED)) return 'lost'
  if (isBroken(error)) return transport.kind === 'stdio' ? 'lost' : 'in doubt'
  // `fetch` throws a TypeError if it reached no server.
  return transport.kind === 'http' && error instanceof TypeError ? 'in doubt' : undefined
}

/**
 * Returns why a server is gone. `goodbye`, what its process said as it ended, says more than a connection
 * that closed, and less than any other error, after which the hub ends the process itself.
 */
export function describeLoss(error: unknown, goodbye: string | undefined): string {
  return (isClosed(error) ? goodbye : undefined) ?? describeError(error)
}

/** Tells whether an error says no more than that the other end is gone, or never was there. */
function isClosed(error: unknown): boolean {
  if (error instanceof SdkError) return CLOSED_CODES.includes(error.code) || isClosed(error.cause)
  if (!(error instanceof Error)) return false
  const isNotStarted = 'syscall' in error && String(error.syscall).startsWith('spawn')
  return isNotStarted || hasCode(error, BROKEN) || isClosed(error.cause)
}

/** Tells whether a pipe broke, which is the whole connection, or the socket or stream of one HTTP request. */
function isBroken(error: unknown): boolean {
  return error instanceof SdkError ? error.code === SdkErrorCode.ConnectionClosed : hasCode(error, BROKEN)
}

function isGone(error: unknown): boolean {
  if (error instanceof SdkError) return LOST_CODES.includes(error.code)
  if (!(error instanceof ProtocolError)) return error instanceof NeedsLogin
  if (error.code === NO_SESSION) return SESSION_WORDS.test(error.message)
  return error.code === -32_000 && GONE_WORDS.test(error.message)
}

/**
 * Decides whether an HTTP error is about the session, or a gateway's. A 404 may be the answer of 2026-07-28
 * to one request, and a 400 a complaint about one; neither is a reason to begin anew.
 */
function lossOfAnswer(status: number, text: string): Loss {
  if (FROM_GATEWAY.has(status)) return 'in doubt'
  if (status !== 404 && status !== 400) return undefined
  const answer = toRpcError(text)
  const isAboutSession = answer
    ? !ABOUT_REQUEST.has(answer.code) && SESSION_WORDS.test(answer.message)
    : status === 404 || SESSION_WORDS.test(text)
  return isAboutSession ? 'lost' : undefined
}

function toRpcError(text: string): { code: number; message: string } | undefined {
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return undefined
  const { error } = parsed
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error))
    return undefined
  return typeof error.code === 'number' ? { code: error.code, message: String(error.message) } : undefined
}

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  return error instanceof Error && (('code' in error && codes.has(error.code)) || hasCode(error.cause, codes))
}

/** Returns a signal that aborts with `outer`, or after `delay` milliseconds; `cancel` frees its timer. */
export function withDeadline(clock: Clock, delay: number, outer?: AbortSignal) {
  const timeout = timeoutSignal(clock, delay, 'Connecting')
  return {
    signal: outer ? AbortSignal.any([outer, timeout.signal]) : timeout.signal,
    cancel: timeout.cancel,
  }
}
