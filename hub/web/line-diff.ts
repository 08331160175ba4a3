/** A line that both texts have, or only one of them. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Most cells of the table; beyond it, the texts' different middles are shown whole. */
const MOST_CELLS = 4_000_000

/** Returns what turns one text into the other, line by line. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const lines = (kind: DiffLine['kind'], texts: string[]) => texts.map(text => ({ kind, text }))
  return [
    ...lines('same', a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...lines('same', a.slice(a.length - end)),
  ]
}

function diffMiddle(a: string[], b: string[]): DiffLine[] {
  const width = b.length + 1
  const isTooLong = (a.length + 1) * width > MOST_CELLS
  // Each cell has the length of the longest common subsequence of the rests that begin there.
  const common = new Uint32Array(isTooLong ? 0 : (a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = isTooLong ? -1 : a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const told: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [mine, theirs] = [a[i], b[j]]
    if (mine !== undefined && mine === theirs) {
      told.push({ kind: 'same', text: mine })
      i++
      j++
    } else if (mine !== undefined && (theirs === undefined || at(i + 1, j) >= at(i, j + 1))) {
      told.push({ kind: 'removed', text: mine })
      i++
    } else if (theirs !== undefined) {
      told.push({ kind: 'added', text: theirs })
      j++
    }
  }
  return told
}
