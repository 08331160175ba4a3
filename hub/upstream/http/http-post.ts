import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { type JSONRPCMessage, type JSONRPCRequest, SdkErrorCode } from '@modelcontextprotocol/client'
import { request as send } from 'undici'
import { decideBackoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { isObject } from '../../core/forwarding.ts'
import { parseJson } from '../../core/json.ts'
import { decideRedirect, MOST_REDIRECTS } from '../../core/redirect.ts'
import { FLOOD_PAUSE_MS, LONGEST_MESSAGE, tooLong } from '../bounds.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { connectionClosed, toRefusal } from '../request-errors.ts'
import { WAITS } from '../restarts.ts'
import { decode, EventCutter, parseEvents } from './event-cutter.ts'
import { HeldBytes, HeldShare } from './held-bytes.ts'

/** Milliseconds that a stream may stay open after its answer. */
const LINGER_MS = 2_000
/** Milliseconds until the rest of an answer is asked for, unless the server says when. */
const RETRY_MS = 1_000
/** The most failures in a row, over some 20 seconds: a restarted or busy server is there again by then. */
const MOST_FAILURES = 6
/** The status of a server that has not noticed yet that the stream broke. */
const CONFLICT = 409
const NOT_IMPLEMENTED = 501
/** Matches names and codes of errors of sockets, of the parser and of decoders for an answer that broke off. */
const BROKEN = /ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HTTPParserError|UND_ERR_SOCKET|Z_/
const TO_POST = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
}

export interface HttpPostDeps {
  clock: Clock
  url: URL
  /** Returns the headers of a request, or those of all; without the headers of its body and the login. */
  headers: (request?: JSONRPCRequest) => Record<string, string>
  authorization: Pick<Authorization, 'fresh' | 'bearer' | 'refused'> | undefined
}

/**
 * Posts a request and delivers what comes back: JSON, or a stream of events. It does not look at the contents
 * of messages. A stream that breaks before the answer is resumed. Resolves when the stream ended, at the
 * latest a moment after the answer. Rejects with `SdkHttpError` if the server refuses (its code is
 * `ClientHttpFailedToOpenStream` if only the rest of an answer was refused), with the network's error, and
 * with the signal's reason.
 */
export type HttpPost = (
  request: JSONRPCRequest,
  deliver: (message: JSONRPCMessage) => void,
  signal: AbortSignal,
) => Promise<void>

/** Creates an `HttpPost`. The SDK's own transport tells nobody if a stream cannot be resumed. */
export function createHttpPost(deps: HttpPostDeps): HttpPost {
  const held = { bytes: 0 }
  const open = createOpen(deps)
  return async (request, deliver, signal) => {
    const share = new HeldShare(held)
    try {
      const body = JSON.stringify(request)
      const headers = { ...deps.headers(request), ...TO_POST }
      const opened = await open({ method: 'POST', headers, body }, share, signal)
      if (opened.stream) await readAnswer(opened.stream)
      else deliver(toAnswer(opened, request))
    } catch (error) {
      throw isBroken(error) ? connectionClosed(describeError(error)) : error
    } finally {
      share.end()
    }

    async function readAnswer(first: Readable): Promise<void> {
      const answer = createAnswerReader(request, deliver, deps.clock, share)
      const failure = await answer.read(first)
      if (answer.isOver) return
      signal.throwIfAborted()
      if (answer.lastEventId) await resume(answer)
      else if (failure) throw failure
    }

    async function resume(answer: AnswerReader): Promise<void> {
      await sleep(deps.clock, answer.retry ?? RETRY_MS, signal)
      for (let failures = 0; ; ) {
        const before = answer.ids
        const failure = await readRest(answer)
        if (answer.isOver) return
        signal.throwIfAborted()
        failures = failure && answer.ids === before ? failures + 1 : 0
        if (failures === MOST_FAILURES) throw failure
        const least = decideBackoff(failures + 1, WAITS, () => 0)
        await sleep(deps.clock, Math.max(answer.retry ?? RETRY_MS, least), signal)
      }
    }

    /** Resolves with the failure if a later try may succeed. */
    async function readRest(answer: AnswerReader): Promise<unknown> {
      const headers = {
        ...deps.headers(),
        Accept: 'text/event-stream',
        // Headers are Latin-1, and this one holds UTF-8.
        'Last-Event-ID': Buffer.from(answer.lastEventId ?? '', 'utf8').toString('latin1'),
      }
      let opened: Opened
      try {
        opened = await open({ method: 'GET', headers }, share, signal)
      } catch (error) {
        if (isOfNetwork(error)) return error
        throw error
      }
      if (opened.stream) return answer.read(opened.stream)
      const what = 'when it was asked for the rest of an answer that broke off'
      const refusal = toRefusal(opened, what, SdkErrorCode.ClientHttpFailedToOpenStream)
      if (opened.status === CONFLICT || mayOpenLater(opened)) return refusal
      throw refusal
    }
  }
}

/** A response: a stream of events, or anything else as text. */
interface Opened {
  status: number
  statusText: string
  type: string | undefined
  authenticate: string | undefined
  text: string
  stream?: Readable
}

interface ToSend {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
}

/** Creates a function that sends a request with the login, where the server is by now. */
function createOpen({ url, authorization }: HttpPostDeps) {
  let target = url
  const sendOnce = async (what: ToSend, share: HeldShare, signal: AbortSignal, used?: string) => {
    const headers = { ...what.headers, ...(used === undefined ? {} : { Authorization: `Bearer ${used}` }) }
    for (let moves = 0; ; moves++) {
      const response = await send(target, { ...what, headers, signal, headersTimeout: 0, bodyTimeout: 0 })
      const { statusCode: status, headers: answered } = response
      const next = decideRedirect(what.method, target, { status, location: answered['location'] })
      if (!next || moves === MOST_REDIRECTS) return await toOpened(response, share)
      await response.body.dump()
      target = next
    }
  }
  return async (what: ToSend, share: HeldShare, signal: AbortSignal): Promise<Opened> => {
    await authorization?.fresh()
    for (let again = false; ; again = true) {
      const used = authorization?.bearer
      const opened = await sendOnce(what, share, signal, used)
      const { status, authenticate } = opened
      if (!authorization || (status !== 401 && status !== 403)) return opened
      // A refused request was not carried out, so it is made once more if new tokens came.
      if (!(await authorization.refused({ status, authenticate, used, again }))) return opened
    }
  }
}

async function toOpened(
  { statusCode: status, statusText, headers, body }: Awaited<ReturnType<typeof send>>,
  share: HeldShare,
): Promise<Opened> {
  const decoder = DECODERS[String(headers['content-encoding']).toLowerCase()]?.()
  // The reader of the decoder's end is told what went wrong.
  const stream = decoder ? pipeline(body, decoder, () => undefined) : body
  const type = String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase()
  const authenticate = headers['www-authenticate']?.toString()
  const opened = { status, statusText, type, authenticate, text: '' }
  if (status < 300 && type === 'text/event-stream') return { ...opened, stream }
  const text = new HeldBytes(share)
  for await (const part of stream) {
    if (text.size + part.length > LONGEST_MESSAGE) throw tooLong()
    text.append(part)
  }
  return { ...opened, text: decode(text.take()) }
}

/** Returns the answer of a response that is no stream. Throws the server's refusal. */
function toAnswer(opened: Opened, request: JSONRPCRequest): JSONRPCMessage {
  const messages = opened.type === 'application/json' ? [parseJson(opened.text)].flat() : []
  for (const message of messages) if (isAnswer(message, request)) return message
  throw toRefusal(opened)
}

function isAnswer(message: unknown, { id }: JSONRPCRequest): message is JSONRPCMessage {
  return (
    isObject(message) && message['id'] === id && (isObject(message['result']) || isObject(message['error']))
  )
}

type AnswerReader = ReturnType<typeof createAnswerReader>

/** Creates a reader of the streams on which one request is answered, one after the other. */
function createAnswerReader(
  request: JSONRPCRequest,
  deliver: (message: JSONRPCMessage) => void,
  clock: Clock,
  share: HeldShare,
) {
  const answer = {
    /** True once the answer was delivered. */
    isOver: false,
    /** The number of ids that came. */
    ids: 0,
    lastEventId: undefined as string | undefined,
    /** Milliseconds after which the server wants to be asked again. */
    retry: undefined as number | undefined,
    /** Reads a stream to its end; resolves with the network's error if it broke. */
    async read(stream: Readable): Promise<unknown> {
      let cancelLinger: (() => void) | undefined
      try {
        const events = new EventCutter(clock, share)
        for await (const part of stream) {
          const whole = events.take(part)
          if (whole) for (const event of parseEvents(whole)) take(event)
          if (answer.isOver) cancelLinger ??= clock.after(LINGER_MS, () => stream.destroy())
          if (events.isFlood) await sleep(clock, FLOOD_PAUSE_MS)
        }
        return undefined
      } catch (error) {
        if (isOfNetwork(error)) return error
        throw error
      } finally {
        cancelLinger?.()
      }
    },
  }
  const take = ({ id, data, retry }: ReturnType<typeof parseEvents>[number]) => {
    if (id !== undefined) answer.ids++
    answer.lastEventId = id ?? answer.lastEventId
    answer.retry = retry ?? answer.retry
    // A server of 2025-03-26 may send several messages in an array.
    for (const message of data === undefined ? [] : [parseJson(data)].flat().filter(isObject)) {
      answer.isOver ||= isAnswer(message, request)
      deliver(message as JSONRPCMessage)
    }
  }
  return answer
}

/** Tells whether a stream that was refused with this status may be opened later. */
export function mayOpenLater({ status }: { status: number }): boolean {
  return status === 429 || (status >= 500 && status !== NOT_IMPLEMENTED)
}

/** Tells whether a connection broke, or brought what cannot be read, after the request may have been sent. */
function isBroken(error: unknown): boolean {
  return isOfNetwork(error) && BROKEN.test(`${error.name} ${error.code}`)
}

/** Tells the errors of sockets and streams, which have a code, from the hub's own. */
function isOfNetwork(error: unknown): error is Error & { code: unknown } {
  return error instanceof Error && 'code' in error
}
