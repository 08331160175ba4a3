import { parseJson } from '../../core/json.ts'
import type { Choice, Field } from './fields.ts'
import { areSynonyms } from './synonyms.ts'
import { isTypo, stem, toParts } from './words.ts'

const NUMBER_WORDS: Record<string, number> = {
  ...{ zero: 0, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{
    eleven: 11,
    twelve: 12,
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
    ninety: 90,
  },
}
const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
]
const YES = /^(?:true|yes|y|on|1|sure|please)$/i
const NO = /^(?:false|no|n|off|0|none)$/i

/** The number that a word is, written in digits or as a word. */
export function toNumber(word: string): number | undefined {
  if (/^[+-]?\d+(?:[.,]\d+)?$/.test(word)) return Number(word.replace(',', '.'))
  const plain = word.toLowerCase()
  return Object.hasOwn(NUMBER_WORDS, plain) ? NUMBER_WORDS[plain] : undefined
}

/** "the second one" → 1, "2" or "2." → 1, "the last" → the last of `count`. */
export function toOrdinal(text: string, count: number): number | undefined {
  const plain = text.toLowerCase()
  if (/\blast\b/.test(plain)) return count > 0 ? count - 1 : undefined
  const named = ORDINALS.findIndex(word => new RegExp(`\\b${word}\\b`).test(plain))
  const digits = /^\W*(?:(?:the|number|no|nr|#)\W*)*(\d{1,3})(?:st|nd|rd|th)?(?: one)?\W*$/.exec(plain)?.[1]
  const index = digits === undefined ? named : Number(digits) - 1
  return index >= 0 && index < count ? index : undefined
}

/** What a written value is for the field, or undefined where it is none. */
export function toValue(field: Field, text: string): unknown {
  if (field.choices.length > 0) return pickChoice(field.choices, text)
  const bare = withoutQuotes(text)
  switch (field.kind) {
    case 'string':
      return bare === '' ? undefined : bare
    case 'number':
      return toParts(bare.replace(/[.,](?=\d)/g, '_')).length > 0 ? firstNumber(bare) : undefined
    case 'boolean':
      return YES.test(bare) ? true : NO.test(bare) ? false : undefined
    case 'list':
      return toList(bare)
    case 'object':
      return toObject(bare)
    default:
      return field.kind satisfies never
  }
}

function firstNumber(text: string): number | undefined {
  return text
    .split(/[\s%]+/)
    .map(toNumber)
    .find(value => value !== undefined)
}

function toList(text: string): unknown[] | undefined {
  const json = text.startsWith('[') ? parseJson(text) : undefined
  if (Array.isArray(json)) return json
  const parts = text
    .split(/\s*,\s*|\s+and\s+/)
    .map(withoutQuotes)
    .filter(part => part !== '')
  return parts.length > 0 ? parts : undefined
}

function toObject(text: string): object | undefined {
  const json = parseJson(text)
  return json && typeof json === 'object' && !Array.isArray(json) ? json : undefined
}

function withoutQuotes(text: string): string {
  const trimmed = text.trim()
  return /^(["'`“‘]).*["'`”’]$/s.test(trimmed) && trimmed.length > 1 ? trimmed.slice(1, -1).trim() : trimmed
}

/**
 * The choice that a text names: as it is written, by another form of its words, by a synonym, by a slip of the pen;
 * the last three never by a word whose stem is among `except`.
 */
export function pickChoice(
  choices: Choice[],
  text: string,
  except?: ReadonlySet<string>,
): Choice | undefined {
  const said = toParts(text)
  const loose = said.filter(word => !except?.has(stem(word)))
  const byLength = [...choices].sort((a, b) => String(b).length - String(a).length)
  const asWritten = byLength.find(
    choice => String(choice).toLowerCase() === withoutQuotes(text).toLowerCase(),
  )
  if (asWritten !== undefined) return asWritten
  const squeezed = byLength.find(choice => {
    const parts = toParts(String(choice))
    return parts.length > 1 && said.includes(parts.join(''))
  })
  if (squeezed !== undefined) return squeezed
  const tests: ((part: string) => boolean)[] = [
    part => said.includes(part),
    part => loose.some(word => stem(word) === stem(part)),
    part => loose.some(word => areSynonyms(stem(word), stem(part))),
    part => loose.some(word => isTypo(word, part)),
  ]
  for (const test of tests) {
    const fitting = byLength.find(
      choice => toParts(String(choice)).length > 0 && toParts(String(choice)).every(test),
    )
    if (fitting !== undefined) return fitting
  }
  return undefined
}
