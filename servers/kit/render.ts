/**
 * The text of a result: lines, and lists of lines that may be nested. Everything that is undefined, false or
 * empty is left out, so that a tool writes a line only under its condition: `problem && toLine(problem)`.
 */
export type Text = string | false | undefined | readonly Text[]

/**
 * Joins the lines of a result. Tools need not call it, `defineTool` does:
 *
 *     text: [
 *       `${toCountText(part.total, 'alert')}:`,
 *       part.items.map(toLine),
 *       toMoreText(part, 'alert'),
 *       toFailedLines(failed),
 *     ]
 */
export function toLines(text: Text): string {
  return flatten(text).join('\n')
}

function flatten(text: Text): string[] {
  if (typeof text === 'object') return text.flatMap(flatten)
  return text ? [text] : []
}

/** Joins the known facts of a line: "running, up 2 h, CPU 7 %". */
export function toFacts(facts: readonly (string | false | undefined)[], between = ', '): string {
  return facts.filter(Boolean).join(between)
}

/** Returns what `to` makes of a value, or undefined if the value is: `known(limit, toByteText)`. */
export function known<Value, Result>(
  value: Value | undefined,
  to: (value: Value) => Result,
): Result | undefined {
  return value === undefined ? undefined : to(value)
}

/** Returns "a, b and 3 more": the first `most` of the items; `total` if there are more than these. */
export function toListText<Item>(
  items: readonly Item[],
  most: number,
  toText: (item: Item) => string = String,
  total = items.length,
): string {
  const shown = items.slice(0, most).map(toText)
  const rest = total - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** One finding of a diagnosis, all in sentences. */
export interface Finding {
  finding: string
  evidence: readonly string[]
  whatToDo: string
}

/** Returns the numbered finding, with its evidence and what to do below it. */
export function toFindingText({ finding, evidence, whatToDo }: Finding, index: number): string {
  return [`${index + 1}. ${finding}`, ...evidence, `What to do: ${whatToDo}`].join('\n   ')
}
