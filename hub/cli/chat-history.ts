import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError } from '../core/errors.ts'

/** Lines that are offered again, and lines of the file from which it is shortened to them. */
const MOST = 1_000
const LONGEST_FILE = 3 * MOST

/** The lines that a person typed in the terminal's chat, also in earlier ones. */
export interface ChatHistory {
  /** The lines, the newest first. */
  readonly lines: string[]
  /** Keeps a line, unless a space leads it, it repeats the last one or has line ends. Returns why it cannot be kept. */
  add(line: string): string | undefined
}

/** Opens the history in a data folder, a file that only its owner reads. Terminals may share it: each adds lines. */
export function openChatHistory(dataFolder: string): ChatHistory {
  const file = join(dataFolder, 'chat-history')
  const stored = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  if (stored.length > LONGEST_FILE) write(file, stored.slice(-MOST))
  const lines = stored.slice(-MOST).reverse()
  return {
    lines,
    add(line) {
      if (line === lines[0] || line.startsWith(' ') || line.trim() === '' || line.includes('\n'))
        return undefined
      lines.unshift(line)
      try {
        appendFileSync(file, `${line}\n`, { mode: 0o600 })
        return undefined
      } catch (error) {
        return `${file} cannot be written, so what you type is not kept: ${describeError(error)}`
      }
    },
  }
}

function write(file: string, lines: readonly string[]): void {
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
}
