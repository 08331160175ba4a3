import {
  type JSONRPCResponse,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client'
import { describeError } from '../core/errors.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'

/** The most characters that are shown of what a server says that is no answer. */
const LONGEST_EXCUSE = 500

/** Returns the error or result of a response, whose shape may be wrong. */
export function toOutcome(message: JSONRPCResponse): [error: unknown, result?: JsonObject] {
  const { result, error }: { result?: unknown; error?: unknown } = message
  if (isObject(result)) return [undefined, result]
  if (!isObject(error))
    return [
      new ProtocolError(ProtocolErrorCode.InternalError, 'The server answered neither a result nor an error'),
    ]
  const { code, message: text, data } = error
  return [ProtocolError.fromError(Number(code) || ProtocolErrorCode.InternalError, String(text), data)]
}

/** Returns a timeout's error; `strayed`: the server wrote something meanwhile that is no message. */
export function tookTooLong(method: string, milliseconds: number, strayed: boolean): SdkError {
  const hint = strayed
    ? '; meanwhile the server wrote something that is no message, perhaps its answer: the log has its beginning'
    : ''
  return new SdkError(
    SdkErrorCode.RequestTimeout,
    `${method} took longer than ${Math.round(milliseconds / 1000)} s without progress${hint}`,
  )
}

/** Returns the error for an HTTP response that is no answer to a request; `when` says what it was asked. */
export function toRefusal(
  answer: { status: number; statusText: string; text: string; authenticate?: string | undefined },
  when = '',
  code = SdkErrorCode.ClientHttpNotImplemented,
): SdkHttpError {
  const said = answer.text.slice(0, LONGEST_EXCUSE) || answer.statusText || 'nothing'
  return new SdkHttpError(code, `The server answered ${answer.status}${when && ` ${when}`}: ${said}`, answer)
}

/** Converts an error to its JSON-RPC form. */
export function toErrorObject(error: unknown): { code: number; message: string; data?: unknown } {
  if (error instanceof ProtocolError) {
    return {
      code: error.code,
      message: error.message,
      ...(error.data === undefined ? {} : { data: error.data }),
    }
  }
  return { code: ProtocolErrorCode.InternalError, message: describeError(error) }
}

/** Returns the error of a request whose connection is gone; with `why`, the request may have been sent. */
export function connectionClosed(why?: string): SdkError {
  const text =
    why === undefined
      ? 'Connection closed'
      : `The connection closed before the answer came, so look what was done before you repeat it: ${why}`
  return new SdkError(SdkErrorCode.ConnectionClosed, text)
}
