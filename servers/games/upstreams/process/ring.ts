import type { Readable } from 'node:stream'

/** Characters kept of a line without an end. */
const LONGEST = 4000

/** The newest lines of some streams. */
export interface Ring {
  /** Adds the stream's lines from now on. */
  follow(stream: Readable): void
  /** Returns the newest lines, oldest first. */
  newest(count: number): string[]
}

export function createRing(kept: number): Ring {
  let lines: string[] = []
  const add = (more: readonly string[]) => {
    lines = [...lines, ...more].slice(-kept)
  }
  return {
    follow(stream) {
      let rest = ''
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => {
        const parts = `${rest}${chunk}`.split(/\r\n|\n|\r/)
        rest = (parts.pop() ?? '').slice(-LONGEST)
        add(parts.map(line => line.slice(0, LONGEST)))
      })
      stream.on('end', () => {
        if (rest !== '') add([rest])
        rest = ''
      })
    },
    newest: count => lines.slice(-count),
  }
}
