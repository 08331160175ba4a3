/** The longest head of a response, and the longest line between the chunks of its body, bytes. */
const LONGEST_HEAD = 64 * 1024
const LONGEST_LINE = 16 * 1024
const NEWLINE = 0x0a
const RETURN = 0x0d
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')
const NOTHING: Buffer = Buffer.alloc(0)
const LENGTH = /^\d{1,15}$/
const CHUNK_SIZE = /^([\da-f]{1,12})[\t ]*(?:;|$)/i

export interface ResponseHead {
  status: number
  statusText: string
  /** The values by lower-case name; repeated headers are joined by commas. */
  headers: ReadonlyMap<string, string>
  /** The media type of the body, in lower case and without parameters. */
  type: string | undefined
  /** Seconds for which the server keeps the connection, 0 if it closes it; undefined if it does not say. */
  keeps: number | undefined
}

/** Receives a response as it comes. A part of the body is valid only during the call. */
export interface ResponseSink {
  onHead(head: ResponseHead): void
  onBody(part: Buffer): void
  /** Called when the response is complete; `isReusable` tells whether the connection may carry another. */
  onEnd(isReusable: boolean): void
}

/** The element of a response that a reader expects next. */
type State = 'nothing' | 'head' | 'length' | 'size' | 'chunk' | 'chunk end' | 'trailer' | 'close'

/**
 * Reads one response after the other (RFC 9112). Throws for what it cannot read; the connection is of no more
 * use then.
 */
export class ResponseReader {
  readonly #sink: ResponseSink
  #state: State = 'nothing'
  /** The beginning of an incomplete line. */
  #rest: Buffer = NOTHING
  /** Bytes of the body or chunk that are still to come. */
  #left = 0
  #isReusable = true
  #last: { text: string; head: ResponseHead } | undefined

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /** Expects a response, because a request was sent. */
  expect(): void {
    this.#state = 'head'
  }

  take(part: Buffer): void {
    if (this.#isOver()) throw malformed('what nobody asked for')
    let data = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    this.#rest = NOTHING
    do data = this.#read(data)
    while (data.length > 0 && !this.#isOver())
    if (this.#isOver()) this.#sink.onEnd(this.#isReusable && data.length === 0)
  }

  /** Ends a response whose body lasts until the server closes the connection. */
  close(): void {
    if (this.#state !== 'close') return
    this.#state = 'nothing'
    this.#sink.onEnd(false)
  }

  #isOver(): boolean {
    return this.#state === 'nothing'
  }

  /** Reads the next element of the response; returns what follows. */
  #read(data: Buffer): Buffer {
    switch (this.#state) {
      case 'nothing':
        return data
      case 'head':
        return this.#readHead(data)
      case 'size':
      case 'chunk end':
      case 'trailer':
        return this.#readLine(data, this.#state)
      case 'length':
      case 'chunk':
        return this.#readPart(data)
      case 'close':
        this.#sink.onBody(data)
        return NOTHING
      default:
        throw new Error(`No such state: ${this.#state satisfies never}`)
    }
  }

  #readHead(data: Buffer): Buffer {
    const text = data.toString('latin1', 0, Math.min(data.length, LONGEST_HEAD))
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) return this.#wait(data, LONGEST_HEAD)
    const after = data.subarray(end + 4)
    const head = this.#parseHead(text.slice(0, end))
    // A response below 200 says nothing to a client that did not ask for it.
    if (head.status < 200) return after
    this.#isReusable = head.keeps !== 0
    this.#state = this.#bodyOf(head)
    this.#sink.onHead(head)
    return after
  }

  #bodyOf({ status, headers }: ResponseHead): State {
    const encoding = headers.get('transfer-encoding')
    const length = headers.get('content-length')
    if (status === 204 || status === 304) return 'nothing'
    if (encoding === undefined && length !== undefined) {
      if (!LENGTH.test(length)) throw malformed(`a body of length ${length}`)
      this.#left = Number(length)
      return this.#left === 0 ? 'nothing' : 'length'
    }
    // Content-Length beside Transfer-Encoding may be smuggling: what follows is not taken for a response.
    if (length !== undefined) this.#isReusable = false
    if (encoding?.toLowerCase().endsWith('chunked')) return 'size'
    this.#isReusable = false
    return 'close'
  }

  #readPart(data: Buffer): Buffer {
    const part = data.length > this.#left ? data.subarray(0, this.#left) : data
    this.#left -= part.length
    const after = data.subarray(part.length)
    if (this.#left > 0) this.#sink.onBody(part)
    else if (this.#state === 'length') this.#endWith(part, 'nothing')
    else if (after.equals(LAST_CHUNK)) {
      // Nearly all short answers end like this, so the rest need not be read line by line.
      this.#endWith(part, 'nothing')
      return NOTHING
    } else this.#endWith(part, 'chunk end')
    return after
  }

  #endWith(part: Buffer, state: State): void {
    this.#state = state
    this.#sink.onBody(part)
  }

  #readLine(data: Buffer, state: 'size' | 'chunk end' | 'trailer'): Buffer {
    const end = data.indexOf(NEWLINE)
    if (end === -1) return this.#wait(data, LONGEST_LINE)
    // A chunk may be as short as a byte: its empty end is recognized without making a string.
    const isEmpty = end === 1 && data[0] === RETURN
    const line = isEmpty ? '' : data.toString('latin1', 0, end).trimEnd()
    if (state === 'size') {
      const [, size] = CHUNK_SIZE.exec(line) ?? []
      if (size === undefined) throw malformed('a chunk without a size')
      this.#left = Number.parseInt(size, 16)
      this.#state = this.#left === 0 ? 'trailer' : 'chunk'
    } else if (state === 'chunk end') {
      if (line !== '') throw malformed('a chunk longer than its size')
      this.#state = 'size'
    } else if (line === '') this.#state = 'nothing'
    return data.subarray(end + 1)
  }

  #wait(data: Buffer, longest: number): Buffer {
    if (data.length >= longest) throw malformed('a line without an end')
    this.#rest = Buffer.from(data)
    return NOTHING
  }

  /** Parses a head, or reuses the last one: heads of one server differ once a second, by their date. */
  #parseHead(text: string): ResponseHead {
    if (!this.#last || text !== this.#last.text) this.#last = { text, head: parseHead(text) }
    return this.#last.head
  }
}

function parseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, status, statusText = ''] = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(first) ?? []
  if (status === undefined) throw malformed('something else than HTTP/1.1')
  const headers = new Map<string, string>()
  if (first.startsWith('HTTP/1.0')) headers.set('connection', 'close')
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw malformed('a header without a name')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const known = headers.get(name)
    headers.set(name, known === undefined ? value : `${known}, ${value}`)
  }
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  return { status: Number(status), statusText, headers, type, keeps: keepsFor(headers) }
}

function keepsFor(headers: ReadonlyMap<string, string>): number | undefined {
  if (/\bclose\b/i.test(headers.get('connection') ?? '')) return 0
  const [, seconds] = /\btimeout=(\d+)/i.exec(headers.get('keep-alive') ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

function malformed(what: string): Error {
  return new Error(`The server does not speak HTTP: it sent ${what}`)
}
