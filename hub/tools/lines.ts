const NEWLINE = 0x0a

/** Cuts bytes into lines. Of a line over `longest` bytes only its beginning is kept. */
export interface LineCutter {
  /** Calls `onLine` with each line that this chunk completes, without its end. */
  cut(chunk: Buffer, onLine: (line: Buffer) => void): void
  /** Some line was too long, be it at its end or not. */
  readonly overlong: boolean
}

export function createLineCutter(longest: number): LineCutter {
  let parts: Buffer[] = []
  let size = 0
  let overlong = false
  const keep = (piece: Buffer) => {
    if (size < longest) parts.push(piece.subarray(0, longest - size))
    size += piece.length
    overlong ||= size > longest
  }
  return {
    get overlong() {
      return overlong
    },
    cut(chunk, onLine) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        keep(chunk.subarray(start, end))
        const line = Buffer.concat(parts)
        parts = []
        size = 0
        start = end + 1
        onLine(line)
      }
      keep(chunk.subarray(start))
    },
  }
}
