/** What somebody called a film or a series, and what a lookup found under it. */
export interface Wanted {
  title: string
  year?: number | undefined
  /** TMDB's or TVDB's, whichever the lookup goes by. */
  id?: number | undefined
}

export interface Candidate {
  id: number
  title: string
  year: number | undefined
}

export type Choice<Found> =
  | { kind: 'one'; found: Found }
  /** Nobody can tell which is meant; best first. */
  | { kind: 'several'; found: Found[] }
  | { kind: 'none' }

/** The title and the year of "Dune (2021)". A year without parentheses may belong to the title: "Blade Runner 2049". */
export function readWanted(text: string, year?: number, id?: number): Wanted {
  const match = /^(.+?)\s*\((\d{4})\)\s*$/.exec(text.trim())
  if (!match) return { title: text.trim(), year, id }
  return { title: match[1] ?? '', year: year ?? Number(match[2]), id }
}

/**
 * Which of those found is meant: the one with the id; else the only one of this name (and year). Several of the same
 * name, or none that is called so, are for a person to choose from.
 */
export function decideChoice<Found extends Candidate>(
  wanted: Wanted,
  found: readonly Found[],
): Choice<Found> {
  if (wanted.id !== undefined) {
    const byId = found.find(one => one.id === wanted.id)
    return byId ? { kind: 'one', found: byId } : { kind: 'none' }
  }
  const { year } = wanted
  const inYear = year === undefined ? found : found.filter(one => one.year === year)
  const called = inYear.filter(one => toPlain(one.title) === toPlain(wanted.title))
  // "The Matrix" is not one of the many called "Matrix", but may be meant by it.
  const precisely = called.filter(one => toWords(one.title) === toWords(wanted.title))
  const [only] = precisely.length > 0 ? precisely : called
  if (only && (precisely.length === 1 || called.length === 1)) return { kind: 'one', found: only }
  if (inYear.length === 0) return { kind: 'none' }
  return { kind: 'several', found: [...called, ...inYear.filter(one => !called.includes(one))] }
}

/** Of those that a person already has, all that hold the words, those called exactly so first. */
export function matchTitle(wanted: string, title: string): 'exact' | 'part' | 'no' {
  const [name, plain] = [toPlain(wanted), toPlain(title)]
  if (name === plain) return 'exact'
  return name !== '' && plain.includes(name) ? 'part' : 'no'
}

/** The title's words without a leading article, see `toWords`. */
export function toPlain(title: string): string {
  return toWords(title).replace(/^(the|a|an) (?=.)/, '')
}

/** No title is longer; what an upstream makes of one would keep this busy. */
const LONGEST = 500

/** Without case, accents, punctuation and a trailing year or country: "The Office (US)" is "the office". */
function toWords(title: string): string {
  return title
    .slice(0, LONGEST)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/\s*\((\d{4}|[a-z]{2})\)\s*$/, '')
    .replaceAll('&', ' and ')
    .replace(/['’`]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
