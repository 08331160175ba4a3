import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { type Clock, timeoutSignal } from '../clock.ts'
import { ToolFailure } from '../failure.ts'
import { cleanText } from '../text.ts'
import { type Request, toNotJson, toTimeout, toTooLarge, toUnexpected } from './explain.ts'

/** Largest number of bytes of an answer that is read whole. */
const MAX_BYTES = 16 * 1024 * 1024
/** Largest number of bytes of a refusal that are read for its reason. */
const MAX_REFUSAL = 64 * 1024

/** A request to send. The path begins with "/". */
export interface Sent {
  method: string
  path: string
  query: Readonly<Record<string, string | number | boolean>>
  headers: Readonly<Record<string, string>>
  body: string | undefined
}

/** Resolves with the head of the answer; the caller reads or destroys its body. Follows no redirect. */
export type Send = (sent: Sent, signal: AbortSignal) => Promise<IncomingMessage>

export interface DialOptions extends Partial<Pick<Sent, 'method' | 'query' | 'headers' | 'body'>> {
  /** Milliseconds for the whole answer, or only for its head if `endless` is true. */
  limit: number
  endless?: boolean
  signal?: AbortSignal | undefined
  /** Statuses besides 2xx that are not failures. */
  accept?: readonly number[]
}

/** Requests to one API. All reject with UpstreamFailure, or with the reason of the caller's signal. */
export interface Dial {
  /** Returns the whole answer; the text is empty if the answer has no body. */
  text(path: string, options: DialOptions): Promise<{ status: number; text: string }>
  /** Returns the whole answer, parsed by the schema. */
  json<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    options: DialOptions,
  ): Promise<z.output<Schema>>
  /** Returns what `read` makes of the answer's body as it arrives. */
  stream<Value>(
    path: string,
    options: DialOptions,
    read: (body: AsyncIterable<Buffer>, status: number) => Promise<Value>,
  ): Promise<Value>
}

export interface DialTarget {
  title: string
  /** The API's name in messages: "the API of Docker or Podman". */
  api: string
  /** Returns the address for messages; called only when a request failed. */
  address(): string
  clock: Clock
  /** Connects; called at the first request, and again if it failed. */
  open(): Promise<Send>
  /** Converts a refusal to a failure; `body` is the refusal's text. */
  explainAnswer(request: Request, status: number, body: string): Error
  /** Converts a request's error without an answer to a failure. */
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

/** Returns the body as text; undefined if it is longer than `max` bytes. */
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
