import { isJSONRPCNotification, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../core/clock.ts'

/** Milliseconds between a progress note and a result, for a client that cannot be pinged. */
const APART_MS = 50
/** Milliseconds after which a client that did not answer a ping is not pinged again. */
const PONG_MS = 2_000
const PING = 'superbloom-ping-'

/**
 * Delays a result until its client has read the progress notes before it: clients of the official SDKs drop a
 * note that they read in one piece with its result. A legacy client is sent a ping, which it answers after
 * what came before. A client of 2026-07-28 takes no requests, so it gets some time.
 */
export class ProgressFlush {
  readonly #clock: Clock
  readonly #send: (message: JSONRPCMessage) => Promise<void>
  #asks = false
  #pings = 0
  /** Monotonic time of the latest note that the client may not have read yet. */
  #unreadSince: number | undefined
  #onPong: (() => void) | undefined

  constructor(clock: Clock, send: (message: JSONRPCMessage) => Promise<void>) {
    this.#clock = clock
    this.#send = send
  }

  /** Allows requests to the client from now on. */
  allowPings(): void {
    this.#asks = true
  }

  /** Stops asking: the client has gone, or does not answer pings. */
  giveUp(): void {
    this.#asks = false
    this.#onPong?.()
  }

  /** Resolves when the message may be written. */
  async before(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCNotification(message)) {
      if (message.method === 'notifications/progress') this.#unreadSince = this.#clock.monotonic()
      return
    }
    if ('method' in message || this.#unreadSince === undefined) return
    if (this.#asks) await this.#ask()
    else await sleep(this.#clock, this.#unreadSince + APART_MS - this.#clock.monotonic())
    this.#unreadSince = undefined
  }

  /** Takes the client's answer to a ping; false for any other message. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || typeof message.id !== 'string' || !message.id.startsWith(PING)) return false
    if (message.id === `${PING}${this.#pings}`) this.#onPong?.()
    return true
  }

  async #ask(): Promise<void> {
    const pong = Promise.withResolvers<void>()
    this.#onPong = pong.resolve
    const cancelLimit = this.#clock.after(PONG_MS, () => this.giveUp())
    try {
      await this.#send({ jsonrpc: '2.0', id: `${PING}${++this.#pings}`, method: 'ping' })
      await pong.promise
    } finally {
      cancelLimit()
      this.#onPong = undefined
    }
  }
}
