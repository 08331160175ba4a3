/** Matches characters that take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Matches characters that stand on the one before. */
const MARK = /\p{M}/u

function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return width
}

/** Returns how many rows of a terminal a text without line ends takes; 0 for none. */
export function heightOf(text: string, columns: number): number {
  return Math.ceil(widthOf(text) / columns)
}

/**
 * Splits a text at its line ends, and a line that is wider than `columns` at a space or beside a wide character. A
 * word that is wider stays whole, so that an address can be copied. The last row may go on with further text.
 */
export function toRows(text: string, columns: number): string[] {
  return text
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap(line => wrap(line, columns))
}

function wrap(line: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let width = 0
  /** Length of the row up to the last place where it may end. */
  let end = 0
  for (const char of line) {
    const size = widthOf(char)
    if (size === 2) end = row.length
    if (char !== ' ' && width + size > columns && end > 0) {
      rows.push(row.slice(0, end).trimEnd())
      row = row.slice(end)
      width = widthOf(row)
      end = 0
    }
    row += char
    width += size
    if ((char === ' ' && row.trim() !== '') || size === 2) end = row.length
  }
  return [...rows, row]
}
