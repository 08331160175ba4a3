import {
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkErrorCode,
  type SdkHttpError,
} from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../core/clock.ts'
import { type AnswerReader, createAnswerReader } from './answer-reader.ts'
import { decideBackoff } from './backoff.ts'
import { mayOpenLater } from './first-stream.ts'
import { toRefusal } from './wire-errors.ts'

/** After so long the rest of an answer is asked for where the server does not say when. */
const RETRY_MS = 1_000
/** So often in a row it may fail, over some 20 seconds: a server that restarts or is busy is there again by then. */
const MOST_FAILURES = 6
/** The server has not noticed yet that the stream broke. */
const CONFLICT = 409

/** Where a stream ended before the answer. */
export interface BrokenOff {
  /** Where the request was made. */
  url: URL
  lastEventId: string
  /** Milliseconds after which the server wants to be asked again; undefined where it did not say. */
  retry: number | undefined
}

/**
 * Asks for the rest of an answer whose stream broke, and delivers it. Resolves once the answer was delivered. Rejects
 * with the signal's reason; with `SdkHttpError` of the code `ClientHttpFailedToOpenStream` where the server refuses, as
 * one does that does not know the session any more; and with what the network says where that goes on.
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
  /** All headers but those that say what is asked for. */
  headers: () => Record<string, string>
}

/** The SDK's own transport tells nobody where the stream cannot be opened again. */
export function createResume({ clock, fetch, headers }: ResumeDeps): Resume {
  return async (request, { url, lastEventId, retry = RETRY_MS }, deliver, signal) => {
    const from = { lastEventId, retry }
    const open = () =>
      fetch(url, {
        headers: {
          ...headers(),
          Accept: 'text/event-stream',
          // Headers are Latin-1, and what is in this one is UTF-8.
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

/** Reads until the answer, or the stream's end. Resolves with why it failed where it may go well later. */
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
    // What `fetch` throws where the network fails.
    if (error instanceof TypeError) return error
    throw error
  }
}

function isStream({ ok, headers }: Response): boolean {
  return ok && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/** Throws where asking again would not help. */
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
