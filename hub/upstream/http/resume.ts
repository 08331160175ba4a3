import {
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkErrorCode,
  type SdkHttpError,
} from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../../core/clock.ts'
import { decideBackoff } from '../backoff.ts'
import { toRefusal } from '../wire-errors.ts'
import { type AnswerReader, createAnswerReader } from './answer-reader.ts'
import { mayOpenLater } from './first-stream.ts'

/** Milliseconds until the rest of an answer is asked for, unless the server says when. */
const RETRY_MS = 1_000
/** The most failures in a row, over some 20 seconds: a restarted or busy server is there again by then. */
const MOST_FAILURES = 6
/** The status of a server that has not noticed yet that the stream broke. */
const CONFLICT = 409

/** The place at which a stream ended before the answer. */
export interface BrokenOff {
  /** The URL at which the request was made. */
  url: URL
  lastEventId: string
  /** Milliseconds after which the server wants to be asked again; undefined if it did not say. */
  retry: number | undefined
}

/**
 * Asks for the rest of an answer whose stream broke, and delivers it. Resolves once the answer was delivered.
 * Rejects with the signal's reason; with `SdkHttpError` of the code `ClientHttpFailedToOpenStream` if the
 * server refuses, as one that no longer knows the session; and with the network's error if that goes on.
 */
export type Resume = (
  request: JSONRPCRequest,
  from: BrokenOff,
  deliver: (message: JSONRPCMessage) => void,
  signal: AbortSignal,
) => Promise<void>

export interface ResumeDeps {
  clock: Clock
  fetch: FetchLike
  /** Returns all headers but those that say what is asked for. */
  headers: () => Record<string, string>
}

/** Creates a `Resume`. The SDK's own transport tells nobody if the stream cannot be opened again. */
export function createResume({ clock, fetch, headers }: ResumeDeps): Resume {
  return async (request, { url, lastEventId, retry = RETRY_MS }, deliver, signal) => {
    const from = { lastEventId, retry }
    const open = () =>
      fetch(url, {
        headers: {
          ...headers(),
          Accept: 'text/event-stream',
          // Headers are Latin-1, and this one holds UTF-8.
          'Last-Event-ID': Buffer.from(from.lastEventId, 'utf8').toString('latin1'),
        },
        redirect: 'manual',
        signal,
      })
    await sleep(clock, retry, signal)
    for (let failures = 0; ; ) {
      const reader = createAnswerReader(request, deliver)
      const failure = await read(open, reader, signal)
      if (reader.answered) return
      failures = failure && reader.lastEventId === undefined ? failures + 1 : 0
      if (failures === MOST_FAILURES) throw failure
      from.lastEventId = reader.lastEventId ?? from.lastEventId
      from.retry = reader.retry ?? from.retry
      await sleep(
        clock,
        Math.max(
          from.retry,
          decideBackoff(failures + 1, () => 0),
        ),
        signal,
      )
    }
  }
}

/** Reads until the answer, or the stream's end. Resolves with the failure if a later try may succeed. */
async function read(
  open: () => Promise<Response>,
  reader: AnswerReader,
  signal: AbortSignal,
): Promise<Error | undefined> {
  try {
    const response = await open()
    if (!isStream(response)) return await refusalOf(response)
    for await (const part of response.body ?? []) {
      reader.take(Buffer.from(part))
      // Leaving the loop cancels the stream.
      if (reader.answered) break
    }
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    // `fetch` throws a TypeError if the network fails.
    if (error instanceof TypeError) return error
    throw error
  }
}

function isStream({ ok, headers }: Response): boolean {
  return ok && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/** Returns the server's refusal; throws it if asking again would not help. */
async function refusalOf(response: Response): Promise<SdkHttpError> {
  const { status, statusText } = response
  const refusal = toRefusal(
    { status, statusText, text: await response.text() },
    'when it was asked for the rest of an answer that broke off',
    SdkErrorCode.ClientHttpFailedToOpenStream,
  )
  if (status === CONFLICT || mayOpenLater(response)) return refusal
  throw refusal
}
