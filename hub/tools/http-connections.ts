import { isIP, type Socket, connect as toPlain } from 'node:net'
import { connect as toSecure } from 'node:tls'
import type { Clock } from '../core/clock.ts'
import { type ResponseHead, ResponseReader } from './http-response.ts'

/** A kept connection that nobody used for so long is closed here: a server that closes it later breaks no request. */
const LONGEST_IDLE_MS = 4_000
/** A server that says when it closes a connection may do so a little earlier. */
const EARLY_MS = 1_000
const MOST_IDLE = 32
/** A server whose first connection stays open for so long keeps its connections, milliseconds. */
const PROOF_MS = 50
/** So much is read at once, bytes. */
const READ_SIZE = 32 * 1024
const NOT_ASCII = /[\u0080-\u00ff]/

/** Who made a request, and is told what comes back. An error thrown here ends the connection, and comes back by `onError`. */
export interface Exchange {
  onHead(head: ResponseHead): void
  /** What is to be kept of a part has to be copied: the next one is written over it. */
  onBody(part: Buffer): void
  /** The response is whole. */
  onEnd(): void
  /** There is no more to come, and why. */
  onError(error: Error): void
}

/** A request on its way. */
export interface Sent {
  /** Ends it, and its connection; nothing more is told of it. Does nothing once it is over: others may be under way there. */
  cut(exchange: Exchange): void
  /** Reads no more until `resume` is called. */
  pause(): void
  resume(): void
}

/**
 * Connections to one origin that are kept between requests. The streams and agents of `node:http` can do much that a
 * forwarded call has no need of, and took more than half of its time.
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
  /** Some servers close each connection after its answer without saying so: what they are sent meanwhile is lost. */
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
  /** By the clock's monotonic time, once it is kept. */
  usableUntil = 0
  readonly #socket: Socket
  readonly #keep: (connection: Connection, longest: number) => void
  #exchange: Exchange | undefined
  /** What waits for the server to show who it is. */
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
      // A server that says no more may still have to read what it never will.
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

  /** Headers are Latin-1, bodies UTF-8; of ASCII both are the same. */
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

  /** One that was cut off, has not taken all of the request, or is not read, is in no state for another. */
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

/** A part that is read is overwritten by the next one. */
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
