import { truncate } from '../core/text.ts'

/** Most lines that are kept of a server, and the most characters of each. */
const MOST_LINES = 200
const LONGEST_LINE = 500

export interface ServerLogLine {
  /** Unix milliseconds. */
  at: number
  /** Who wrote it: the server's process, or the hub about the server. */
  by: 'server' | 'hub'
  text: string
}

/** The end of a server's log, over all its processes and connections. */
export class ServerLog {
  readonly #lines: ServerLogLine[] = []

  get lines(): readonly ServerLogLine[] {
    return this.#lines
  }

  add(line: ServerLogLine): void {
    this.#lines.push({ ...line, text: truncate(line.text, LONGEST_LINE) })
    if (this.#lines.length > MOST_LINES) this.#lines.shift()
  }
}
