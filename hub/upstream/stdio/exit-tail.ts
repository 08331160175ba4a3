/** The most lines that are kept: the trace of a program that ends with an error is longer than its reason. */
const KEPT_LINES = 30
const LONGEST = 300
/** Matches a line that says why a program ends: `SyntaxError: …`, `ModuleNotFoundError: …`, `error: …`. */
const REASON = /^(?:\s*|.*\b)(?:\w*(?:Error|Exception)\b(?: \[\w+\])?|error|fatal|usage)\s*:/i

/** Matches what Node and npm write below the reason, and lines of a trace. */
const TRAILER =
  /^(?:Node\.js v\d|\(Use `node --trace|\s+at |\s*[\^~]+\s*$|\s*[{}\]]+;?\s*$|npm (?:error|ERR!) (?:A complete log|code\b|errno\b|syscall\b)|npm (?:error|ERR!)\s+\/)/
/** Matches a reason of npm, which has no colon after the word; the first such line says what is wrong. */
const NPM_REASON = /^npm (?:error|ERR!) \S/

/** Keeps the last lines of a program's log, to say why it ended. */
export class ExitTail {
  readonly #lines: string[] = []

  add(line: string): void {
    if (TRAILER.test(line) || line.trim() === '') return
    this.#lines.push(line)
    if (this.#lines.length > KEPT_LINES) this.#lines.shift()
  }

  /** The newest line that gives a reason, else the newest; empty if there was none. */
  get text(): string {
    const lines = this.#lines
    const line =
      lines.findLast(one => REASON.test(one)) ?? lines.find(one => NPM_REASON.test(one)) ?? lines.at(-1)
    return (line ?? '').trim().slice(0, LONGEST)
  }
}
