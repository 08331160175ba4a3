import { isIP, type Socket, connect as toPlain } from 'node:net'
import { connect as toSecure } from 'node:tls'
import type { Clock } from '../../core/clock.ts'
import { type ResponseHead, ResponseReader } from './http-response.ts'

/** Idle milliseconds after which the hub closes a connection, lest the server close it during a request. */
const LONGEST_IDLE_MS = 4_000
/** Milliseconds by which a server may close a connection earlier than it announced. */
const EARLY_MS = 1_000
const MOST_IDLE = 32
/** Milliseconds that a first connection has to stay open to show that the server keeps connections. */
const PROOF_MS = 50
/** The most bytes that are read at once. */
const READ_SIZE = 32 * 1024
const NOT_ASCII = /[\u0080-\u00ff]/

/** Receives one response. An error that it throws ends the connection and is passed to `onError`. */
export interface Exchange {
  onHead(head: ResponseHead): void
  /** Called with a part of the body, which the next part overwrites: the receiver copies what it keeps. */
  onBody(part: Buffer): void
  /** Called when the response is complete. */
  onEnd(): void
  /** Called with the reason when no more is to come. */
  onError(error: Error): void
}

/** A request in flight. */
export interface Sent {
  /**
   * Ends the request and its connection; the exchange hears no more. Does nothing once the request is over,
   * since the connection may carry others then.
   */
  cut(exchange: Exchange): void
  /** Stops reading until `resume` is called. */
  pause(): void
  resume(): void
}

/**
 * Keeps connections to one origin between requests. The streams and agents of `node:http` can do much that a
 * forwarded call does not need, and took more than half of its time.
 */
export interface HttpConnections extends Disposable {
  /** Sends a whole request; its head ends with an empty line. */
  send(head: string, body: string, exchange: Exchange): Sent
}

export function createHttpConnections(origin: URL, clock: Clock): HttpConnections {
  const all = new Set<Connection>()
  const idle: Connection[] = []
  let cancelSweep: (() => void) | undefined

  let keeps: boolean | undefined
  const proving = new Map<Connection, () => void>()

  const leave = (connection: Connection) => {
    const at = idle.indexOf(connection)
    if (at !== -1) idle.splice(at, 1)
  }
  const sweep = () => {
    cancelSweep = undefined
    const now = clock.monotonic()
    for (const connection of idle.filter(({ usableUntil }) => usableUntil <= now)) {
      leave(connection)
      connection.end()
    }
    if (idle.length > 0) cancelSweep = clock.after(LONGEST_IDLE_MS, sweep)
  }
  const keep = (connection: Connection, longest: number) => {
    connection.usableUntil = clock.monotonic() + longest
    if (longest <= 0 || idle.length >= MOST_IDLE || keeps === false) return connection.end()
    if (keeps === undefined) return prove(connection)
    idle.push(connection)
    cancelSweep ??= clock.after(LONGEST_IDLE_MS, sweep)
  }
  /** Delays the first reuse: a server that closes each connection unannounced would lose what is sent. */
  const prove = (connection: Connection) => {
    const onProven = () => {
      proving.delete(connection)
      keeps ??= true
      keep(connection, connection.usableUntil - clock.monotonic())
    }
    proving.set(connection, clock.after(PROOF_MS, onProven))
  }
  const onGone = (gone: Connection) => {
    all.delete(gone)
    leave(gone)
    proving.get(gone)?.()
    if (proving.delete(gone)) keeps ??= false
  }
  const take = (): Connection => {
    for (let kept = idle.pop(); kept; kept = idle.pop()) {
      if (kept.usableUntil > clock.monotonic()) return kept
      kept.end()
    }
    const connection = new Connection(origin, keep, onGone)
    all.add(connection)
    return connection
  }
  return {
    send(head, body, exchange) {
      const connection = take()
      connection.send(head, body, exchange)
      return connection
    },
    [Symbol.dispose]() {
      cancelSweep?.()
      for (const cancel of proving.values()) cancel()
      for (const connection of [...all]) connection.end()
    },
  }
}

class Connection implements Sent {
  /** The monotonic time until which the connection is kept for reuse. */
  usableUntil = 0
  readonly #socket: Socket
  readonly #keep: (connection: Connection, longest: number) => void
  #exchange: Exchange | undefined
  /** The write that waits for the TLS handshake. */
  #held: (() => void) | undefined
  #isReady = true
  #longestIdle = LONGEST_IDLE_MS
  readonly #reader = new ResponseReader({
    onHead: head => {
      this.#longestIdle = longestIdle(head)
      this.#exchange?.onHead(head)
    },
    onBody: part => this.#exchange?.onBody(part),
    onEnd: isReusable => this.#finish(isReusable),
  })

  constructor(
    origin: URL,
    keep: (connection: Connection, longest: number) => void,
    onGone: (connection: Connection) => void,
  ) {
    this.#keep = keep
    this.#socket = open(origin, part => this.#read(() => this.#reader.take(part)))
    if (origin.protocol === 'https:') {
      this.#isReady = false
      this.#socket.on('secureConnect', () => {
        this.#isReady = true
        this.#held?.()
        this.#held = undefined
      })
    }
    const onClose = () => {
      onGone(this)
      this.#read(() => this.#reader.close())
      this.#fail(Object.assign(new Error('The server closed the connection'), { code: 'ECONNRESET' }))
      // A server that ended its side may never read the rest of the request.
      this.end()
    }
    this.#socket.on('end', onClose)
    this.#socket.on('error', error => this.#fail(error))
    this.#socket.on('close', onClose)
  }

  send(head: string, body: string, exchange: Exchange): void {
    this.#exchange = exchange
    this.#reader.expect()
    if (this.#isReady) this.#write(head, body)
    else this.#held = () => this.#write(head, body)
  }

  cut(exchange: Exchange): void {
    if (this.#exchange !== exchange) return
    this.#exchange = undefined
    this.end()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  end(): void {
    this.#socket.destroy()
  }

  /** Writes a request: headers are Latin-1, bodies UTF-8; for ASCII headers both are the same. */
  #write(head: string, body: string): void {
    if (!NOT_ASCII.test(head)) return void this.#socket.write(head + body)
    this.#socket.write(head, 'latin1')
    this.#socket.write(body)
  }

  #read(read: () => void): void {
    try {
      read()
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
      this.end()
    }
  }

  /** Ends an exchange; a socket that is closed, paused or has unsent bytes is not used again. */
  #finish(isReusable: boolean): void {
    this.#exchange?.onEnd()
    this.#exchange = undefined
    const { destroyed, writableLength } = this.#socket
    const isFree = isReusable && !destroyed && writableLength === 0 && !this.#socket.isPaused()
    this.#keep(this, isFree ? this.#longestIdle : 0)
  }

  #fail(error: Error): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.onError(error)
  }
}

/** Opens a socket; each part that is read overwrites the one before. */
function open({ protocol, hostname, port }: URL, onRead: (part: Buffer) => void): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isSecure = protocol === 'https:'
  const buffer = Buffer.allocUnsafeSlow(READ_SIZE)
  const onread = {
    buffer,
    callback: (size: number) => {
      onRead(buffer.subarray(0, size))
      return true
    },
  }
  const options = {
    host,
    port: Number(port) || (isSecure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    onread,
  }
  if (!isSecure) return toPlain(options)
  return toSecure({ ...options, ALPNProtocols: ['http/1.1'], ...(isIP(host) ? {} : { servername: host }) })
}

function longestIdle({ keeps }: ResponseHead): number {
  return keeps === undefined ? LONGEST_IDLE_MS : Math.min(LONGEST_IDLE_MS, keeps * 1000 - EARLY_MS)
}
