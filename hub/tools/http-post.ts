import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { urlToHttpOptions } from 'node:url'
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { isObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import { createFloodMeter, describeOverlong, FLOOD_PAUSE_MS, LONGEST_MESSAGE } from './bounds.ts'
import { createLineCutter } from './lines.ts'

/** A kept connection that nobody used for so long is closed here: a server that closes it later breaks no request. */
const LONGEST_IDLE_MS = 4_000
/** So often in a row a server may say that it is elsewhere. */
const MOST_MOVES = 5
/** Of what a server says that is no answer, so much is shown. */
const LONGEST_EXCUSE = 500

export interface HttpPostDeps {
  clock: Clock
  url: URL
  /** All headers of a request but those of its body. */
  headers: (request: JSONRPCRequest) => Record<string, string>
  /** Asks for the rest of an answer whose stream broke; it arrives at the transport itself. */
  resume: (request: JSONRPCRequest, from: BrokenOff, signal: AbortSignal) => Promise<void>
}

/** Where a stream ended before the answer. */
export interface BrokenOff {
  lastEventId: string
  /** Milliseconds after which the server wants to be asked again; undefined where it did not say. */
  retry: number | undefined
}

export interface HttpPost extends Disposable {
  /**
   * Sends a request and delivers what comes back on its own stream, until that ends or its rest is awaited elsewhere.
   * Throws `SdkHttpError` where the server refuses, and what the network says.
   */
  post(
    request: JSONRPCRequest,
    deliver: (message: JSONRPCMessage) => void,
    signal: AbortSignal,
  ): Promise<'ended' | 'resumed'>
}

/**
 * Posts requests over connections that are kept, and reads their answers: JSON, or a stream of events. What stands in
 * the messages is not looked at.
 */
export function createHttpPost(deps: HttpPostDeps): HttpPost {
  const options = { keepAlive: true, maxFreeSockets: 32, timeout: LONGEST_IDLE_MS }
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) }
  let { url } = deps
  const send = (request: JSONRPCRequest, signal: AbortSignal) => {
    const body = Buffer.from(JSON.stringify(request))
    const isSecure = url.protocol === 'https:'
    const outgoing = (isSecure ? https : http).request({
      ...urlToHttpOptions(url),
      method: 'POST',
      agent: isSecure ? agents['https:'] : agents['http:'],
      signal,
      headers: {
        ...deps.headers(request),
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        Accept: 'application/json, text/event-stream',
      },
    })
    outgoing.end(body)
    return untilAnswered(outgoing)
  }
  /** Where a server says that it is elsewhere, it is asked there from then on. */
  const sendOn = async (request: JSONRPCRequest, signal: AbortSignal) => {
    for (let moves = 0; ; moves++) {
      const response = await send(request, signal)
      const next = moves < MOST_MOVES ? placeOf(response, url) : undefined
      if (!next) return response
      response.resume()
      url = next
    }
  }
  return {
    async post(request, deliver, signal) {
      try {
        return await readAnswer(await sendOn(request, signal), request, deliver, signal, deps)
      } catch (error) {
        // Its answer is there, or nobody waits for it any more.
        if (!signal.aborted) throw error
        return 'ended'
      }
    },
    [Symbol.dispose]() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** Where a request has to be made again, of the same server: its headers may be a secret between it and the hub. */
function placeOf({ statusCode, headers: { location } }: IncomingMessage, url: URL): URL | undefined {
  if ((statusCode !== 307 && statusCode !== 308) || !location || !URL.canParse(location, url.href))
    return undefined
  const next = new URL(location, url)
  const isSafer = next.protocol === url.protocol || next.protocol === 'https:'
  return isSafer && next.hostname === url.hostname ? next : undefined
}

/** An error that comes after the response comes through that too. */
function untilAnswered(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
  })
}

async function readAnswer(
  response: IncomingMessage,
  request: JSONRPCRequest,
  deliver: (message: JSONRPCMessage) => void,
  signal: AbortSignal,
  { clock, resume }: HttpPostDeps,
): Promise<'ended' | 'resumed'> {
  const { statusCode = 0 } = response
  const type = response.headers['content-type']?.split(';', 1)[0]?.trim()
  if (statusCode < 300 && type === 'text/event-stream') {
    const { answered, lastEventId, retry } = await readEvents(response, request, deliver, clock)
    if (answered || lastEventId === undefined) return 'ended'
    await resume(request, { lastEventId, retry }, signal)
    return 'resumed'
  }
  const text = await readText(response)
  const message = type === 'application/json' ? parseJson(text) : undefined
  if (isAnswer(message, request)) {
    deliver(message)
    return 'ended'
  }
  const said = text.slice(0, LONGEST_EXCUSE) || response.statusMessage || 'nothing'
  throw new SdkHttpError(
    SdkErrorCode.ClientHttpNotImplemented,
    `The server answered ${statusCode}: ${said}`,
    {
      status: statusCode,
      statusText: response.statusMessage ?? '',
      text,
    },
  )
}

function isAnswer(message: unknown, { id }: JSONRPCRequest): message is JSONRPCMessage {
  return (
    isObject(message) && message['id'] === id && (isObject(message['result']) || isObject(message['error']))
  )
}

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  await readParts(response, part => {
    size += part.length
    if (size > LONGEST_MESSAGE) throw tooLong()
    parts.push(part)
  })
  return (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)).toString('utf8')
}

/** Hands on each part as it comes; an error of `take` ends the response. To iterate over it would cost half as much again. */
function readParts(response: IncomingMessage, take: (part: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    response.on('data', (part: Buffer) => {
      try {
        take(part)
      } catch (error) {
        response.destroy()
        reject(error)
      }
    })
    response.on('end', resolve)
    response.on('error', reject)
    response.on('close', () => reject(new Error('The answer was cut off')))
  })
}

/** Server-sent events, each a message; a flood of them is read slowly. Resolves at the end of the stream. */
async function readEvents(
  response: IncomingMessage,
  request: JSONRPCRequest,
  deliver: (message: JSONRPCMessage) => void,
  clock: Clock,
): Promise<{ answered: boolean; lastEventId: string | undefined; retry: number | undefined }> {
  const lines = createLineCutter(LONGEST_MESSAGE)
  let data: string[] = []
  let lastEventId: string | undefined
  let retry: number | undefined
  let answered = false
  let count = 0
  const isFlood = createFloodMeter(clock)
  const end = () => {
    const message = data.length > 0 ? parseJson(data.join('\n')) : undefined
    data = []
    if (!isObject(message)) return
    count++
    answered ||= isAnswer(message, request)
    deliver(message as JSONRPCMessage)
  }
  const take = (line: string) => {
    if (line === '') end()
    const [, field, value = ''] = /^(data|id|retry):? ?(.*)$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
    if (field === 'id') lastEventId = value
    if (field === 'retry' && /^\d+$/.test(value)) retry = Number(value)
  }
  try {
    await readParts(response, chunk => {
      lines.cut(chunk, line => take(line.toString('utf8').replace(/\r$/, '')))
      if (lines.overlong) throw tooLong()
      if (isFlood(count)) pause(response, clock)
      count = 0
    })
  } catch (error) {
    if (lines.overlong || lastEventId === undefined) throw error
  }
  return { answered, lastEventId, retry }
}

function pause(response: IncomingMessage, clock: Clock): void {
  response.pause()
  clock.after(FLOOD_PAUSE_MS, () => response.resume())
}

function tooLong(): Error {
  return new Error(`The server failed: ${describeOverlong()}`)
}
