import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { type Clock, timeoutSignal } from '../clock.ts'
import { ToolFailure } from '../failure.ts'
import { cleanText } from '../text.ts'
import { type Request, toNotJson, toTimeout, toTooLarge, toUnexpected } from './explain.ts'

/** Of an answer that is kept whole. */
const MAX_BYTES = 16 * 1024 * 1024
/** Of a refusal, for its reason. */
const MAX_REFUSAL = 64 * 1024

/** A request on its way. The path begins with "/". */
export interface Sent {
  method: string
  path: string
  query: Readonly<Record<string, string | number | boolean>>
  headers: Readonly<Record<string, string>>
  body: string | undefined
}

/** Resolves with the head of the answer; its body is to be read or destroyed. Follows no redirect. */
export type Send = (sent: Sent, signal: AbortSignal) => Promise<IncomingMessage>

export interface DialOptions extends Partial<Pick<Sent, 'method' | 'query' | 'headers' | 'body'>> {
  /** Milliseconds for the whole answer, or only for its head where `endless` is true. */
  limit: number
  endless?: boolean
  signal?: AbortSignal | undefined
  /** Statuses besides 2xx that are answers and no failures. */
  accept?: readonly number[]
}

/** Requests to one API. All reject with UpstreamFailure, or with the reason of the caller's signal. */
export interface Dial {
  /** The whole answer; the text is empty where there is none. */
  text(path: string, options: DialOptions): Promise<{ status: number; text: string }>
  /** The whole answer, parsed by the schema. */
  json<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    options: DialOptions,
  ): Promise<z.output<Schema>>
  /** What `read` makes of the answer's body while it comes. */
  stream<Value>(
    path: string,
    options: DialOptions,
    read: (body: AsyncIterable<Buffer>, status: number) => Promise<Value>,
  ): Promise<Value>
}

export interface DialTarget {
  title: string
  /** "the API of Docker or Podman". */
  api: string
  /** For messages; looked at when something failed. */
  address(): string
  clock: Clock
  /** Called once, at the first request, and again after it failed. */
  open(): Promise<Send>
  /** The failure that a refusal stands for; `body` is what came with it. */
  explainAnswer(request: Request, status: number, body: string): Error
  /** The failure of a request without an answer. */
  explainError(request: Request, error: unknown): Error
}

export function createDial(target: DialTarget): Dial {
  let opened: Promise<Send> | undefined
  const open = () => {
    opened ??= target.open().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
  const toRequest = (path: string, options: DialOptions): Request => {
    const { title, api } = target
    return { title, api, address: target.address(), method: options.method ?? 'GET', path }
  }

  const stream: Dial['stream'] = async (path, options, read) => {
    const { method = 'GET', query = {}, headers = {}, body, accept = [] } = options
    const limit = timeoutSignal(target.clock, options.limit)
    const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal
    const refuse = (status: number, text: string) =>
      target.explainAnswer(toRequest(path, options), status, text)
    try {
      const answer = await (await open())({ method, path, query, headers, body }, signal)
      if (options.endless) limit.cancel()
      return await readAnswer(answer, accept, read, refuse)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (limit.signal.aborted) throw toTimeout(toRequest(path, options), options.limit)
      throw error instanceof ToolFailure ? error : target.explainError(toRequest(path, options), error)
    } finally {
      limit.cancel()
    }
  }
  const text: Dial['text'] = (path, options) =>
    stream(path, options, async (body, status) => {
      const found = await readText(body, MAX_BYTES)
      if (found === undefined) throw toTooLarge(toRequest(path, options), MAX_BYTES)
      return { status, text: found }
    })
  return {
    stream,
    text,
    json: async (path, schema, options) =>
      parse(toRequest(path, options), schema, (await text(path, options)).text),
  }
}

function parse<Schema extends z.ZodType>(request: Request, schema: Schema, text: string): z.output<Schema> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw toNotJson(request, text)
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw toUnexpected(request, cleanText(issues.join('; '), 300))
}

async function readAnswer<Value>(
  answer: IncomingMessage,
  accept: readonly number[],
  read: (body: AsyncIterable<Buffer>, status: number) => Promise<Value>,
  refuse: (status: number, body: string) => Error,
): Promise<Value> {
  const status = answer.statusCode ?? 0
  try {
    if ((status >= 200 && status < 300) || accept.includes(status)) return await read(answer, status)
    throw refuse(status, (await readText(answer, MAX_REFUSAL)) ?? '')
  } finally {
    answer.destroy()
  }
}

/** Undefined where there is more. */
async function readText(body: AsyncIterable<Buffer>, max: number): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > max) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
