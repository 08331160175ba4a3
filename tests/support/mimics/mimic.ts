import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Json, toObject } from './json.ts'

export interface Usage {
  input: number
  /** The part of `input` that came from the cache. */
  cached: number
  output: number
}

export interface Answer {
  status: number
  body: unknown
  /** True if it comes as an event in a stream that has begun with 200. */
  inStream?: boolean
}

/** A mimic's reply to one accepted request. Without text and calls it is a silent reply. */
export interface Turn {
  text?: string
  reasoning?: string
  /** Several calls are parallel. */
  calls?: readonly { name: string; arguments: unknown }[]
  /**
   * Default: a token for four characters; the common beginning with the last request comes from the cache.
   */
  usage?: Usage
  /** A failure instead of the reply: an overload, or an invalid call by its model. */
  failure?: Answer
}

/** Turns that a mimic plays in order, or a function that decides each one. */
export type Script = readonly Turn[] | ((request: { body: Json; index: number }) => Turn)

/** A rule's violation, in the provider's words. */
export interface Fault {
  message: string
  /** The status; default 400. */
  status?: number
  type?: string
  param?: string | null
  code?: string | null
}

export interface Rule<Request> {
  /** The refused feature, which names the rule in tests and in docs/models.md. */
  what: string
  /** A public page, thread or source that shows the refusal. */
  source: string
  find(request: Request, issued: Issued): Iterable<Fault>
}

/** Signatures, encrypted items and ids that a mimic has sent, each with its owner. */
export type Issued = ReadonlyMap<string, string>

export interface Refusal extends Answer {
  /** `what` of the rule that refused. */
  rule: string
}

/** The data of a provider's stream besides the turn. */
export interface Playing {
  body: Json
  usage: Usage
  /** Makes an id or signature with so many letters and digits, and records it as sent. */
  issue(prefix: string, length: number, belongsTo?: string): string
}

/** A provider's behaviour as data. */
export interface Provider<Request> {
  name: string
  /** The path of its API, which is part of clients' base URL. */
  base: string
  /** Matches the paths of requests for a reply, below `base`. */
  path: RegExp
  /** The header with the key, and the fault without it. */
  key?: { header: string; fault: Fault }
  rules: readonly Rule<Request>[]
  read(body: Json, path: string): Request
  refuse(fault: Fault): Answer
  /** Yields the pieces of the event stream. */
  play(turn: Turn, playing: Playing): Iterable<string>
  /** Answers of its other addresses, by whole path. */
  pages?: Readonly<Record<string, unknown>>
  /** Returns the tokens that it counts for a prompt; default all. */
  count?(tokens: number): number
}

export interface Mimic extends AsyncDisposable {
  /** The base URL for its clients. */
  readonly url: string
  /** The posted bodies, including refused ones. */
  readonly requests: readonly Json[]
  readonly refusals: readonly Refusal[]
  /** Returns the fault in the provider's form. */
  refuse(fault: Fault): Answer
}

/**
 * Creates the check that returns a request's first refusal. It is pure: the issued values are a parameter.
 */
export const createCheck =
  <Request>({ rules, read, refuse }: Provider<Request>) =>
  (body: Json, issued: Issued = new Map(), path = ''): Refusal | undefined => {
    const request = read(body, path)
    for (const { what, find } of rules) {
      for (const fault of find(request, issued)) return { rule: what, ...refuse(fault) }
    }
    return undefined
  }

const STREAM = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }

function send(response: ServerResponse, { status, body, inStream }: Answer): void {
  if (inStream) response.writeHead(200, STREAM).end(toEvent(body, 'error'))
  else response.writeHead(status, JSON_TYPE).end(JSON.stringify(body))
}

async function readBody(call: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of call) text += piece
  return text
}

/** Serves a provider on a free port of this machine. Requests that break a rule are refused. */
export async function startMimic<Request>(provider: Provider<Request>, script: Script): Promise<Mimic> {
  const requests: Json[] = []
  const refusals: Refusal[] = []
  const state = createState(provider)
  const check = createCheck(provider)
  let played = 0

  const reply = (response: ServerResponse, body: Json, text: string) => {
    const index = played++
    const turn = typeof script === 'function' ? script({ body, index }) : script[index]
    if (!turn) return send(response, { status: 500, body: { error: 'The script has no more turns' } })
    if (turn.failure) return send(response, turn.failure)
    response.writeHead(200, STREAM)
    for (const piece of provider.play(turn, state.begin(body, text, turn))) response.write(piece)
    response.end()
  }

  const server = createServer(async (call, response) => {
    const path = (call.url ?? '').replace(/\?.*/, '')
    const page = provider.pages?.[path]
    if (page !== undefined) return send(response, { status: 200, body: page })
    if (!path.startsWith(provider.base) || !provider.path.test(path.slice(provider.base.length)))
      return send(response, provider.refuse({ status: 404, message: `Unknown request URL: ${path}` }))
    const { key } = provider
    if (key && !call.headers[key.header]) return send(response, provider.refuse(key.fault))
    const text = await readBody(call)
    const body = toObject(JSON.parse(text))
    requests.push(body)
    const refusal = check(body, state.issued, path)
    if (!refusal) return reply(response, body, text)
    refusals.push(refusal)
    send(response, refusal)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${provider.base}`,
    requests,
    refusals,
    refuse: provider.refuse,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

let mimics = 0

/** Creates the state: the issued values, and the last request's text. No two mimics issue the same values. */
function createState<Request>({ name, count = tokens => tokens }: Provider<Request>) {
  const issued = new Map<string, string>()
  const account = ++mimics
  let last = ''
  const issue: Playing['issue'] = (prefix, length, belongsTo = '') => {
    const made = createHash('sha512')
      .update(`${name} ${account} ${issued.size}`)
      .digest('hex')
      .slice(0, length)
    issued.set(prefix + made, belongsTo)
    return prefix + made
  }
  return {
    issued,
    begin(body: Json, text: string, { usage, ...reply }: Turn): Playing {
      const input = count(tokensOfBody(body))
      const cached = Math.min(input, toTokens(commonStart(last, text)))
      last = text
      const output = toTokens(JSON.stringify(reply).length)
      return { body, issue, usage: usage ?? { input, cached, output } }
    },
  }
}

const toTokens = (characters: number) => Math.ceil(characters / 4)

/**
 * Estimates a request's tokens; a picture counts as one of 1,000 pixels a side, however long its base64 is.
 */
export const tokensOfBody = (body: unknown) => {
  const text = JSON.stringify(body)
  const plain = text.replaceAll(/data:image\/[^"]*/g, '')
  return toTokens(plain.length) + 1_300 * (text.split('data:image/').length - 1)
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

/** Splits a text into two pieces, as streams do. */
export function toPieces(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter(piece => piece !== '')
}

/** Formats one event of a stream. */
export const toEvent = (data: unknown, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
