import { HeldBytes } from '../http/held-bytes.ts'

const NEWLINE = 0x0a

/** Cuts bytes into lines. Only the beginning of a line over `longest` bytes is kept. */
export interface LineCutter {
  /**
   * Calls `onLine` with each line that this chunk completes, without its newline; returns their number. A
   * line is valid only during the call.
   */
  cut(chunk: Buffer, onLine: (line: Buffer) => void): number
  /** True once a line was too long, complete or not. */
  readonly overlong: boolean
}

export function createLineCutter(longest: number): LineCutter {
  const begun = new HeldBytes()
  let size = 0
  let overlong = false
  const clip = (piece: Buffer) => {
    const kept = piece.subarray(0, Math.max(0, longest - size))
    size += piece.length
    overlong ||= size > longest
    return kept
  }
  const whole = (piece: Buffer) => {
    const kept = clip(piece)
    size = 0
    if (begun.size === 0) return kept
    begun.append(kept)
    return begun.take()
  }
  return {
    get overlong() {
      return overlong
    },
    cut(chunk, onLine) {
      let start = 0
      let count = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const line = whole(chunk.subarray(start, end))
        start = end + 1
        count++
        onLine(line)
      }
      if (start < chunk.length) begun.append(clip(chunk.subarray(start)))
      return count
    },
  }
}
