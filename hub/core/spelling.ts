/** Shortest word that is corrected, and the shortest that may have two slips. */
const SHORTEST = 4
const LONG = 8
const MOST_NEAREST = 5

/**
 * Returns the words of a vocabulary that a misspelled word may mean: those with the fewest slips. A slip is a
 * letter too many, one too few, a wrong one, or two that are swapped. Empty where none is near.
 */
export function findNearest(word: string, vocabulary: Iterable<string>): string[] {
  if (word.length < SHORTEST) return []
  let most = word.length < LONG ? 1 : 2
  let nearest: string[] = []
  for (const known of vocabulary) {
    if (Math.abs(known.length - word.length) > most) continue
    const slips = countSlips(word, known)
    if (slips > most) continue
    if (slips < most) nearest = []
    most = slips
    nearest.push(known)
  }
  return nearest.slice(0, MOST_NEAREST)
}

/** Returns the distance of Damerau and Levenshtein without substring moves (optimal string alignment). */
function countSlips(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const cost = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      )
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next.push(swapped ? Math.min(cost, at(before, column - 2) + 1) : cost)
    }
    before = last
    last = next
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
