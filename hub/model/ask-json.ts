import { type Clock, timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { fetchProvider } from './wire/fetch-provider.ts'

export interface JsonQuestion {
  url: string
  /** Body that is sent as JSON by POST; without it the request is a GET. */
  body?: unknown
  headers?: Readonly<Record<string, string>> | undefined
  clock: Clock
  /** Milliseconds until the whole answer has to be there. */
  timeout: number
}

/** Returns an address without user, password and query, which may be secret. */
export function toShownUrl(address: string): string {
  const url = URL.parse(address)
  return url ? `${url.origin}${url.pathname}` : 'an address that is none'
}

/** Asks a server and returns its answer as JSON, or why there is none. Never throws. */
export async function askJson(question: JsonQuestion): Promise<{ value: unknown } | { why: string }> {
  const { url, body, headers = {}, clock, timeout } = question
  const shown = toShownUrl(url)
  const deadline = timeoutSignal(clock, timeout, shown)
  try {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetchProvider(url, {
      ...sent,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: deadline.signal,
    })
    const value = parseJson(await answer.text())
    if (!answer.ok) return { why: `${shown} answers with status ${answer.status}` }
    return value === undefined ? { why: `${shown} answers with something that is no JSON` } : { value }
  } catch (error) {
    // The value that no header can carry is a key. The error quotes it, so its message is not passed on.
    if (error instanceof TypeError && error.cause === undefined)
      return { why: `${shown} cannot be asked: its address or a header is not valid` }
    return { why: describeError(error).replaceAll(url, shown) }
  } finally {
    deadline.cancel()
  }
}
