const ESCAPE = String.fromCharCode(27)

/** Reads the modules of a QR code from what a terminal was sent: white on black, two rows in a line; true for black. */
export function readModules(text: string): boolean[][] {
  const [begin, end] = [`${ESCAPE}[97;40m`, `${ESCAPE}[0m`]
  const lines = text.split('\n').filter(line => line.startsWith(begin) && line.endsWith(end))
  const rows = lines.flatMap(line => {
    const drawn = [...line.slice(begin.length, -end.length)]
    return [' ▄', ' ▀'].map(black => drawn.map(character => black.includes(character)))
  })
  // A code has as many rows as columns; the last line may have one more.
  return rows.slice(0, rows[0]?.length)
}
