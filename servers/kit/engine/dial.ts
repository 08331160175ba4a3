import type { IncomingMessage, RequestOptions } from 'node:http'
import { type Clock, timeoutSignal } from '../clock.ts'
import { explainAnswer, explainDial, type Request, toTimeout, toTooLarge } from './explain.ts'

/** Of an answer that is kept whole. */
const MAX_BYTES = 16 * 1024 * 1024
/** Of a refusal, for its reason. */
const MAX_REFUSAL = 64 * 1024

export interface DialOptions {
  method?: 'GET' | 'POST'
  query?: Readonly<Record<string, string | number | boolean>>
  /** Milliseconds for the whole answer, or only for its head where `endless` is true. */
  limit: number
  endless?: boolean
  signal?: AbortSignal | undefined
  /** Statuses besides 2xx that are answers and no failures. */
  accept?: readonly number[]
}

/** Requests to one engine. All reject with UpstreamFailure, or with the reason of the caller's signal. */
export interface Dial {
  /** The whole answer; the text is empty where there is none. */
  text(path: string, options: DialOptions): Promise<{ status: number; text: string }>
  /** What `read` makes of the answer's body while it comes. */
  stream<Value>(
    path: string,
    options: DialOptions,
    read: (body: AsyncIterable<Buffer>) => Promise<Value>,
  ): Promise<Value>
}

type Answered = (error: Error | null, answer: IncomingMessage | null) => void

/** The part of dockerode that speaks HTTP over sockets, TCP and TLS. */
export interface Modem {
  dial(
    request: {
      path: string
      method: string
      isStream: true
      statusCodes: Readonly<Record<number, true>>
      abortSignal: AbortSignal
      options: { _query: object; _body: object }
    },
    callback: Answered,
  ): void
  buildRequest(options: RequestOptions, context: object, data: string | undefined, callback: Answered): void
}

const ANY_STATUS = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [index + 100, true as const]))

/** `open` is called once, at the first request, and again after it failed. */
export function createDial(target: {
  title: string
  address: string
  clock: Clock
  open(): Promise<Modem>
}): Dial {
  let modem: Promise<Modem> | undefined
  const open = () => {
    modem ??= target.open().catch(error => {
      modem = undefined
      throw error
    })
    return modem
  }

  const stream: Dial['stream'] = async (path, options, read) => {
    const request: Request = { ...target, method: options.method ?? 'GET', path }
    const limit = timeoutSignal(target.clock, options.limit)
    const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal
    try {
      const answer = await send(await open(), request, options, signal)
      if (options.endless) limit.cancel()
      return await answered(request, options, answer, read)
    } catch (error) {
      options.signal?.throwIfAborted()
      throw limit.signal.aborted ? toTimeout(request, options.limit) : explainDial(request, error)
    } finally {
      limit.cancel()
    }
  }
  return {
    stream,
    text: (path, options) =>
      stream(path, options, async body => ({
        status: (body as IncomingMessage).statusCode ?? 0,
        text: await readText(body, MAX_BYTES, max => {
          throw toTooLarge({ ...target, method: options.method ?? 'GET', path }, max)
        }),
      })),
  }
}

/** Resolves when the head of the answer is there. */
function send(
  modem: Modem,
  request: Request,
  options: DialOptions,
  abortSignal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    abortSignal.throwIfAborted()
    abortSignal.addEventListener('abort', () => reject(abortSignal.reason), { once: true })
    modem.dial(
      {
        path: `${request.path}?`,
        method: request.method,
        isStream: true,
        statusCodes: ANY_STATUS,
        abortSignal,
        options: { _query: options.query ?? {}, _body: {} },
      },
      (error, answer) => {
        if (answer === null) return reject(error)
        abortSignal.addEventListener('abort', () => answer.destroy(abortSignal.reason), { once: true })
        resolve(answer)
      },
    )
  })
}

async function answered<Value>(
  request: Request,
  options: DialOptions,
  answer: IncomingMessage,
  read: (body: AsyncIterable<Buffer>) => Promise<Value>,
): Promise<Value> {
  const status = answer.statusCode ?? 0
  try {
    if ((status >= 200 && status < 300) || options.accept?.includes(status)) return await read(answer)
    throw explainAnswer(request, status, await readText(answer, MAX_REFUSAL, () => undefined))
  } finally {
    answer.destroy()
  }
}

async function readText(
  body: AsyncIterable<Buffer>,
  max: number,
  tooLarge: (max: number) => void,
): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > max) {
      tooLarge(max)
      break
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
