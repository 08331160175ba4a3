/** A film's or series' name as a person gave it, and the results of its lookup. */
export interface Wanted {
  title: string
  year?: number | undefined
  /** TMDB's or TVDB's id, whichever the lookup uses. */
  id?: number | undefined
}

export interface Candidate {
  id: number
  title: string
  year: number | undefined
}

export type Choice<Found> =
  | { kind: 'one'; found: Found }
  /** Several titles match equally; best first. */
  | { kind: 'several'; found: Found[] }
  | { kind: 'none' }

/**
 * Reads the title and the year of "Dune (2021)". A year without parentheses may belong to the title: "Blade
 * Runner 2049".
 */
export function readWanted(text: string, year?: number, id?: number): Wanted {
  const match = /^(.+?)\s*\((\d{4})\)\s*$/.exec(text.trim())
  if (!match) return { title: text.trim(), year, id }
  return { title: match[1] ?? '', year: year ?? Number(match[2]), id }
}

/**
 * Decides which result is meant: the one with the id, else the only one with this name (and year). If several
 * have the name, or none has it, a person must choose.
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
  // Titles that match with their article come first: "The Matrix" before the many called "Matrix".
  const precisely = called.filter(one => toWords(one.title) === toWords(wanted.title))
  const [only] = precisely.length > 0 ? precisely : called
  if (only && (precisely.length === 1 || called.length === 1)) return { kind: 'one', found: only }
  if (inYear.length === 0) return { kind: 'none' }
  return { kind: 'several', found: [...called, ...inYear.filter(one => !called.includes(one))] }
}

/**
 * Tells whether a title is exactly the wanted one, or contains its words, to search titles that a person
 * already has.
 */
export function matchTitle(wanted: string, title: string): 'exact' | 'part' | 'no' {
  const [name, plain] = [toPlain(wanted), toPlain(title)]
  if (name === plain) return 'exact'
  return name !== '' && plain.includes(name) ? 'part' : 'no'
}

/** Returns the title's words without a leading article, see `toWords`. */
export function toPlain(title: string): string {
  return toWords(title).replace(/^(the|a|an) (?=.)/, '')
}

/** Longest title in characters; an upstream's endless title would keep the processor busy. */
const LONGEST = 500

/**
 * Returns the words without case, accents, punctuation and a trailing year or country: "The Office (US)" is
 * "the office".
 */
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
