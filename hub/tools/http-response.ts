/** The longest head of a response, and the longest line between the chunks of its body, bytes. */
const LONGEST_LINE = 64 * 1024
const NOTHING: Buffer = Buffer.alloc(0)
const LENGTH = /^\d{1,15}$/
const CHUNK_SIZE = /^([\da-f]{1,12})[\t ]*(?:;|$)/i

export interface ResponseHead {
  status: number
  statusText: string
  /** By their names in lower case; what came more than once is joined by commas. */
  headers: ReadonlyMap<string, string>
}

/** Who is told of a response as it comes. */
export interface ResponseSink {
  onHead(head: ResponseHead): void
  onBody(part: Buffer): void
  /** The response is whole; `isReusable` says whether its connection may carry another one. */
  onEnd(isReusable: boolean): void
}

/** What a reader waits for. */
type State = 'nothing' | 'head' | 'length' | 'size' | 'chunk' | 'chunk end' | 'trailer' | 'close'

/**
 * Reads one response after the other, as RFC 9112 has them. What it cannot read throws, and its connection is of no
 * more use then.
 */
export class ResponseReader {
  readonly #sink: ResponseSink
  #state: State = 'nothing'
  /** The beginning of a line that is not whole yet. */
  #rest: Buffer = NOTHING
  /** So much of a body or a chunk is to come. */
  #left = 0
  #isReusable = true

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /** A request was made: a response may come. */
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

  /** The other side closed the connection. */
  close(): void {
    if (this.#state !== 'close') return
    this.#state = 'nothing'
    this.#sink.onEnd(false)
  }

  #isOver(): boolean {
    return this.#state === 'nothing'
  }

  /** Reads as far as it can be told what it is; returns what follows. */
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
    const text = this.#cut(data, '\r\n\r\n')
    if (text === undefined) return NOTHING
    const after = data.subarray(text.length + 4)
    const head = parseHead(text)
    // What comes before the response itself says nothing to a client that did not ask for it.
    if (head.status < 200) return after
    this.#isReusable = !/\bclose\b/i.test(head.headers.get('connection') ?? '')
    this.#state = this.#bodyOf(head)
    this.#sink.onHead(head)
    return after
  }

  #bodyOf({ status, headers }: ResponseHead): State {
    const encoding = headers.get('transfer-encoding')
    const length = headers.get('content-length')
    if (status === 204 || status === 304 || length === '0') return 'nothing'
    if (encoding === undefined && length !== undefined) {
      if (!LENGTH.test(length)) throw malformed(`a body of length ${length}`)
      this.#left = Number(length)
      return 'length'
    }
    // Two lengths are what smugglers send: whatever follows is not taken for a response.
    if (length !== undefined) this.#isReusable = false
    if (encoding?.toLowerCase().endsWith('chunked')) return 'size'
    this.#isReusable = false
    return 'close'
  }

  #readPart(data: Buffer): Buffer {
    const part = data.length > this.#left ? data.subarray(0, this.#left) : data
    this.#left -= part.length
    if (this.#left === 0) this.#state = this.#state === 'chunk' ? 'chunk end' : 'nothing'
    this.#sink.onBody(part)
    return data.subarray(part.length)
  }

  #readLine(data: Buffer, state: 'size' | 'chunk end' | 'trailer'): Buffer {
    const text = this.#cut(data, '\r\n')
    if (text === undefined) return NOTHING
    if (state === 'size') {
      const [, size] = CHUNK_SIZE.exec(text) ?? []
      if (size === undefined) throw malformed('a chunk without a size')
      this.#left = Number.parseInt(size, 16)
      this.#state = this.#left === 0 ? 'trailer' : 'chunk'
    } else if (state === 'chunk end') {
      if (text !== '') throw malformed('a chunk longer than its size')
      this.#state = 'size'
    } else if (text === '') this.#state = 'nothing'
    return data.subarray(text.length + 2)
  }

  /** The text up to `mark`; undefined where it is not whole yet, and is kept. */
  #cut(data: Buffer, mark: string): string | undefined {
    const at = data.indexOf(mark)
    if (at > LONGEST_LINE || (at === -1 && data.length > LONGEST_LINE))
      throw malformed('a line without an end')
    if (at !== -1) return data.toString('latin1', 0, at)
    this.#rest = data
    return undefined
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
  return { status: Number(status), statusText, headers }
}

function malformed(what: string): Error {
  return new Error(`The server does not speak HTTP: it sent ${what}`)
}
