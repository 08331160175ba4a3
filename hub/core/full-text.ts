/** A word of a text as the index stores it: lower case, without accents. */
interface Word {
  word: string
  begin: number
  end: number
}

const WORDS = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
const MOST_PHRASES = 32
const LONGEST_PHRASE = 100

/** Characters that a snippet shows before and after a match. */
const BEFORE = 60
const AFTER = 160

/** Returns the phrases to search for: each run without spaces is one, of words in sequence. May be empty. */
export function toPhrases(query: string): string[] {
  return query
    .split(/\s+/)
    .map(part => (part.match(WORDS) ?? []).join(' ').slice(0, LONGEST_PHRASE).trim())
    .filter(phrase => phrase !== '')
    .slice(0, MOST_PHRASES)
}

function toWords(text: string): Word[] {
  return [...text.matchAll(WORDS)].map(match => ({
    word: fold(match[0]),
    begin: match.index,
    end: match.index + match[0].length,
  }))
}

/** Returns the words of a text, in lower case and without accents. May be empty. */
export function toFolded(text: string): string[] {
  return (text.match(WORDS) ?? []).map(fold).filter(word => word !== '')
}

function fold(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/**
 * Returns where each phrase begins in a text; undefined where it is missing. The last may end inside a word.
 */
function findPhrases(text: string, phrases: readonly string[]): (number | undefined)[] {
  const words = toWords(text)
  return phrases.map((phrase, index) => {
    const wanted = toWords(phrase).map(({ word }) => word)
    const isLast = index === phrases.length - 1
    const place = words.findIndex((_, from) => follows(words, from, wanted, isLast))
    return words[place]?.begin
  })
}

function follows(words: readonly Word[], from: number, wanted: readonly string[], mayGoOn: boolean): boolean {
  return wanted.every((word, index) => {
    const found = words[from + index]?.word
    return mayGoOn && index === wanted.length - 1 ? found?.startsWith(word) : found === word
  })
}

/** Tells whether a text holds all of the phrases, or any of them, as the index would find it. */
export function holdsPhrases(text: string, phrases: readonly string[], which: 'all' | 'any'): boolean {
  const places = findPhrases(text, phrases)
  return which === 'all'
    ? places.every(place => place !== undefined)
    : places.some(place => place !== undefined)
}

/** Returns the part of a text around its first match, on one line, with … where something was left out. */
export function toSnippet(text: string, phrases: readonly string[]): string {
  const places = findPhrases(text, phrases).filter(place => place !== undefined)
  return cutAround(text, places.length > 0 ? Math.min(...places) : 0)
}

/** Returns the part of a text around a place, on one line, with … where something was left out. */
export function cutAround(text: string, place: number): string {
  const begin = place <= BEFORE ? 0 : place - BEFORE
  const end = Math.min(text.length, place + AFTER)
  const part = text.slice(begin, end).toWellFormed().replace(/\s+/g, ' ').trim()
  return `${begin > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`
}
