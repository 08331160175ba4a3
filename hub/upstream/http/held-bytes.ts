import { MOST_HELD } from '../bounds.ts'

const NOTHING: Buffer = Buffer.alloc(0)
const FIRST_SIZE = 256

/** The bytes that the unfinished answers of one server take together. */
export interface HeldTotal {
  bytes: number
}

/** The bytes that one answer takes of a `HeldTotal`. */
export class HeldShare {
  readonly #total: HeldTotal
  #bytes = 0
  #isOver = false
  /** True if there was no room for more of the answer. */
  isRefused = false

  constructor(total: HeldTotal = { bytes: 0 }) {
    this.#total = total
  }

  /** Takes bytes (negative: gives them back). Throws if the server's answers exceed MOST_HELD together. */
  add(bytes: number): void {
    if (this.#isOver) return
    if (bytes > 0 && this.#total.bytes + bytes > MOST_HELD) {
      this.isRefused = true
      throw new Error(`The server failed: its unfinished answers take over ${MOST_HELD} bytes together`)
    }
    this.#total.bytes += bytes
    this.#bytes += bytes
  }

  /** Gives all bytes back: the answer is complete, or nobody waits for it. */
  end(): void {
    this.add(-this.#bytes)
    this.#isOver = true
  }
}

/**
 * Collects parts in one buffer: a part of one byte, kept on its own, would take a hundred times its size. The
 * buffer is less than twice as large as what came.
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

  /** Appends a copy of a part. Throws as `HeldShare.add` does. */
  append(part: Uint8Array): void {
    const size = this.#size + part.length
    if (size > this.#bytes.length) this.#grow(Math.max(size, this.#bytes.length * 2, FIRST_SIZE))
    this.#bytes.set(part, this.#size)
    this.#size = size
  }

  /** Returns all that was appended, and empties the buffer. */
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
