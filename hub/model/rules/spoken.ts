import { hintsOf, joinPhrases, KNOWN_STEMS, STOPS, synonymsOf } from './synonyms.ts'
import { isTypo, READ_CHARACTERS, stem, toParts, toPlain, toStems } from './words.ts'

/** A word of a sentence that says something about which tool is meant. */
export interface SpokenWord {
  stem: string
  /** The stem as it was written, before a slip of the pen was mended. */
  written: string
  /** 1 where it was said so, less where it was guessed. */
  trust: number
  /** Not said, only hinted at. */
  hint: boolean
  /** Stems that mean the same. */
  alike: ReadonlySet<string>
}

const TYPO = 0.85
const HINT = 0.5
const MOST_WORDS = 60

/** The words that carry meaning, with slips mended where the catalogue or a synonym knows what was meant. */
function toSpoken(sentence: string, vocabulary: ReadonlySet<string>): SpokenWord[] {
  const plain = joinPhrases(toPlain(withoutValues(sentence)))
  const stems = [...new Set(toStems(plain))].filter(part => !STOPS.has(part) && !/^\d+$/.test(part))
  const words = stems.slice(0, MOST_WORDS).map(written => mend(written, vocabulary))
  const hints = hintsOf([plain, ...words.map(word => word.stem)].join(' '))
    .map(stem)
    .filter(part => !stems.includes(part))
    .map(part => ({ stem: part, written: part, trust: HINT, hint: true, alike: synonymsOf(part) }))
  return [...words, ...hints]
}

function mend(written: string, vocabulary: ReadonlySet<string>): SpokenWord {
  const known = vocabulary.has(written) || KNOWN_STEMS.has(written)
  const meant = known ? undefined : (nearest(written, vocabulary) ?? nearest(written, KNOWN_STEMS))
  const part = meant ?? written
  return { stem: part, written, trust: meant === undefined ? 1 : TYPO, hint: false, alike: synonymsOf(part) }
}

function nearest(word: string, vocabulary: ReadonlySet<string>): string | undefined {
  return [...vocabulary].filter(known => isTypo(word, known)).sort()[0]
}

/** What stands in quotes, paths, addresses and `key=value` are arguments, not words about the tool. */
function withoutValues(sentence: string): string {
  return sentence
    .slice(0, READ_CHARACTERS)
    .replace(/"[^"]*"|“[^”]*”|`[^`]*`/g, ' ')
    .replace(/\b[a-z]{2,10}:\/\/\S+/gi, ' url ')
    .replace(/(?<!\S)\/dev\/\S+/g, ' disk device ')
    .replace(/(?<!\S)~?\/\S*\.\w{1,5}(?=[\s.,;!?]|$)/g, ' file path ')
    .replace(/(?<!\S)~?\/\S+/g, ' path ')
    .replace(/(\w)\s?=\s?\S+/g, '$1 ')
}

/** A sentence as matching needs it. */
export interface Heard {
  words: SpokenWord[]
  /** Names as they are written. */
  names: ReadonlySet<string>
  /** Its plain parts from the first that is not mere politeness on, articles left out. */
  parts: string[]
  stems: string[]
  /** It asks how things are or says what not to do, so it orders nothing. */
  isIdle: boolean
}

export function hear(sentence: string, vocabulary: ReadonlySet<string>): Heard {
  const parts = toParts(withoutPolite(sentence)).filter(part => !['the', 'a', 'an', 'my'].includes(part))
  const stems = parts.map(stem)
  return {
    words: toSpoken(sentence, vocabulary),
    names: new Set(sentence.split(/[^\w-]+/)),
    parts,
    stems,
    isIdle: isQuestion(sentence) || isNegated(sentence) || stems.includes('why'),
  }
}

const POLITE = /^\W*(?:(?:please|ok|okay|hey|hi|hello|now|kindly|(?:can|could|would|will) you)\b[\s,]*){0,4}/i

/** The sentence without "could you please" in front. */
export function withoutPolite(sentence: string): string {
  return sentence.replace(POLITE, '')
}

/** A question about how things are: nothing in it is an order. */
export function isQuestion(sentence: string): boolean {
  return /^(?:why|what|whats|when|where|who|whos|which|how|hows|is|are|was|were|did|does|do|has|have|had|should|shall|must|may|might|if)\b/i.test(
    withoutPolite(sentence),
  )
}

/** "Don't stop valheim": what such a sentence names must not be done. */
export function isNegated(sentence: string): boolean {
  return /\b(?:don['’]?t|do not|never|dont|not to)\b/i.test(sentence.slice(0, READ_CHARACTERS))
}
