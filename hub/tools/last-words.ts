/** So many lines are looked at: the trace of a program that ends with an error is longer than its reason. */
const KEPT_LINES = 30
const LONGEST = 300
/** How programs begin the line that says why they end: `SyntaxError: …`, `ModuleNotFoundError: …`, `error: …`. */
const REASON = /^(?:\s*|.*\b)(?:\w*(?:Error|Exception)\b(?: \[\w+\])?|error|fatal|usage)\s*:/i

/** What a program wrote last to its log, to say why it ended. */
export interface LastWords {
  add(line: string): void
  /** The newest line that gives a reason, else the newest; empty where there was none. */
  readonly text: string
}

export function createLastWords(): LastWords {
  const lines: string[] = []
  return {
    add(line) {
      lines.push(line)
      if (lines.length > KEPT_LINES) lines.shift()
    },
    get text() {
      const line = lines.findLast(one => REASON.test(one)) ?? lines.at(-1) ?? ''
      return line.trim().slice(0, LONGEST)
    },
  }
}
