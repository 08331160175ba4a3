import { MOST_HELD } from './bounds.ts'

const NOTHING: Buffer = Buffer.alloc(0)
const FIRST_SIZE = 256

/** How much the unfinished answers of one server take together. */
export interface HeldTotal {
  bytes: number
}

/** What one answer takes of it. */
export class HeldShare {
  readonly #total: HeldTotal
  #bytes = 0
  #isOver = false
  /** There was no room for more of the answer. */
  isRefused = false

  constructor(total: HeldTotal = { bytes: 0 }) {
    this.#total = total
  }

  /** Throws where the answers of the server are more than the hub holds for it. */
  add(bytes: number): void {
    if (this.#isOver) return
    if (bytes > 0 && this.#total.bytes + bytes > MOST_HELD) {
      this.isRefused = true
      throw new Error(`The server failed: its unfinished answers take over ${MOST_HELD} bytes together`)
    }
    this.#total.bytes += bytes
    this.#bytes += bytes
  }

  /** The answer is whole, or nobody waits for it. */
  end(): void {
    this.add(-this.#bytes)
    this.#isOver = true
  }
}

/**
 * Bytes that come in parts, held as one: each part of its own would take a hundred times the memory of a byte. What is
 * held is less than twice what came.
 */
export class HeldBytes {
  readonly #share: HeldShare
  #bytes = NOTHING
  #size = 0

  constructor(share = new HeldShare()) {
    this.#share = share
  }

  get size(): number {
    return this.#size
  }

  /** Copies a part. Throws as the share does. */
  append(part: Uint8Array): void {
    const size = this.#size + part.length
    if (size > this.#bytes.length) this.#grow(Math.max(size, this.#bytes.length * 2, FIRST_SIZE))
    this.#bytes.set(part, this.#size)
    this.#size = size
  }

  /** Gives all that came, and holds nothing any more. */
  take(): Buffer {
    const whole = this.#bytes.subarray(0, this.#size)
    this.#share.add(-this.#bytes.length)
    this.#bytes = NOTHING
    this.#size = 0
    return whole
  }

  #grow(length: number): void {
    this.#share.add(length - this.#bytes.length)
    const grown = Buffer.allocUnsafeSlow(length)
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
  }
}
