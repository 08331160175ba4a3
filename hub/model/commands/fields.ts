import ms, { type StringValue } from 'ms'
import { fold, isStop, meaningsOf, toWords } from './words.ts'

/** An argument of a tool, as far as a sentence can give it. */
interface Field {
  name: string
  required: boolean
  kind: 'choice' | 'number' | 'text' | 'other'
  choices: readonly string[]
}

interface Schema {
  type?: unknown
  enum?: unknown
  anyOf?: unknown
  properties?: Record<string, Schema>
  required?: unknown
}

function readFields(schema: Schema): Field[] {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties ?? {}).map(([name, inner]) => {
    const parts = [inner, ...(Array.isArray(inner.anyOf) ? (inner.anyOf as Schema[]) : [])]
    const choices = parts
      .flatMap(({ enum: values }) => (Array.isArray(values) ? values : []))
      .filter(value => typeof value === 'string')
    const types = parts.map(({ type }) => type)
    const isNumber = types.includes('integer') || types.includes('number')
    const kind =
      choices.length > 0 ? 'choice' : isNumber ? 'number' : types.includes('string') ? 'text' : 'other'
    return { name, required: required.includes(name), kind, choices }
  })
}

/** Returns the choices of one argument; none where the schema lists none. */
export function choicesOf(schema: Record<string, unknown>, argument: string): readonly string[] {
  return readFields(schema).find(({ name }) => name === argument)?.choices ?? []
}

/** Values that a sentence gives to a tool's arguments, the words that gave them, and missing arguments. */
export interface Filled {
  arguments: Record<string, unknown>
  used: ReadonlySet<string>
  missing: readonly { name: string; choices: readonly string[] }[]
}

/** The sentence that arguments are read from; `open` has its words that do not speak of the tool itself. */
export interface Asked {
  text: string
  words: readonly string[]
  open: readonly string[]
  /** Words that occur in what the tool says of itself. */
  described: readonly string[]
  /** Words that occur in the tool's name or title, except those of the order to act on it. */
  named: readonly string[]
}

/** Reads only the arguments that a sentence gives for certain. */
export function fillArguments(schema: Record<string, unknown>, asked: Asked): Filled {
  const values: Record<string, unknown> = {}
  const used = new Set<string>()
  const fields = readFields(schema)
  const give = (field: Field, value: unknown, words: readonly string[]) => {
    values[field.name] = value
    for (const word of words) used.add(word)
  }
  for (const field of fields) {
    const found = FINDERS[field.kind](field, asked)
    if (found) give(field, found.value, found.words)
  }
  const lacking = fields.filter(field => field.required && !(field.name in values))
  const [first, ...others] = lacking
  if (first?.kind === 'text' && others.length === 0) {
    const found = findText(first, asked, used)
    if (found) give(first, found.value, found.words)
  }
  const missing = lacking.filter(field => !(field.name in values))
  return { arguments: values, used, missing }
}

interface Value {
  value: unknown
  words: readonly string[]
}

const FINDERS: Record<Field['kind'], (field: Field, asked: Asked) => Value | undefined> = {
  choice: findChoice,
  number: (field, asked) => findSpeed(field, asked) ?? findNumber(field, asked),
  text: findNamed,
  other: () => undefined,
}

/** Returns the one choice that is named; undefined where two are, since that is ambiguous. */
function findChoice({ choices }: Field, { words }: Asked): Value | undefined {
  const isSaid = (choice: string, word: string) => word === choice || toStem(word) === choice
  const isMeant = (choice: string, word: string) => meaningsOf(word).includes(choice)
  const isAlike = (choice: string, word: string) =>
    [choice, ...meaningsOf(choice)].some(meaning => meaningsOf(word).includes(meaning))
  for (const fits of [isSaid, isMeant, isAlike]) {
    const named = choices.flatMap(choice => {
      const word = words.find(each => fits(toWords(choice).join(' '), each))
      return word === undefined ? [] : [{ value: choice, words: [word] }]
    })
    if (named.length > 0) return named.length === 1 ? named[0] : undefined
  }
  return undefined
}

const UNITS: Record<string, number> = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 }

/** Reads a number beside the argument's name, or "for 2 hours" for an argument that counts a unit of time. */
function findNumber({ name }: Field, { words }: Asked): Value | undefined {
  const said = words.flatMap((word, index) => {
    if (!/^\d+(?:\.\d+)?$/.test(word)) return []
    const [before = '', next = ''] = [words[index - 1], words[index + 1]]
    const unit = UNITS[name]
    const span = before === 'for' && unit ? ms(`${word} ${next}` as StringValue) : undefined
    if (unit && span) return [{ value: span / unit, words: [word, next] }]
    const beside = [next, before].find(each => toStem(each) === toStem(fold(name)))
    return beside ? [{ value: Number(word), words: [word, beside] }] : []
  })
  const [only] = said
  return said.length === 1 && only && Number.isInteger(only.value) ? only : undefined
}

const SPEED = /(\d+(?:[.,]\d+)?)\s*([kmg])(i?)(b(?:it)?|bps)(?:\s*(?:\/|per )\s*s\p{L}*|ps)?(?!\p{L})/iu

/** Reads a speed such as "2 MB/s" for an argument that counts MiB. */
function findSpeed({ name }: Field, { text }: Asked): Value | undefined {
  const [whole, number = '', prefix = '', binary, unit = ''] = SPEED.exec(text) ?? []
  if (whole === undefined || !name.endsWith('MiBps')) return undefined
  const power = 'kmg'.indexOf(prefix.toLowerCase()) + 1
  const isBits = unit === 'b' ? prefix === 'm' || prefix === 'g' : /bit|bps/i.test(unit)
  const bytes = (Number(number.replace(',', '.')) * (binary ? 1024 : 1000) ** power) / (isBits ? 8 : 1)
  return { value: Math.round((bytes / 2 ** 20) * 100) / 100, words: toWords(whole) }
}

/** Values of `client` that people say without the argument's name. */
const CLIENTS = new Set(['sabnzbd', 'nzbget', 'qbittorrent', 'transmission', 'deluge'])

/** Reads a word beside the argument's name: "container nginx", "nginx container", "the debian torrent". */
function findNamed({ name }: Field, { text, words, open, described }: Asked): Value | undefined {
  const client = name === 'client' ? words.find(word => CLIENTS.has(word)) : undefined
  if (client) return { value: client, words: [client] }
  const address = name === 'url' ? ADDRESS.exec(text)?.[0] : undefined
  if (address) return { value: address, words: toWords(address) }
  const at = words.findIndex(word => word === fold(name) || meaningsOf(word).includes(fold(name)))
  if (at < 0) return undefined
  const isName = (word = '') =>
    open.includes(word) && !described.includes(word) && !isCommon(word) && isStop(word) === isStop(word, true)
  const after = OF.has(words[at + 1] ?? '') ? words[at + 2] : words[at + 1]
  const beside = [after, words[at - 1]].find(isName)
  return beside === undefined ? undefined : { value: asWritten(text, beside), words: [beside] }
}

const OF = new Set(['of', 'von', 'de', 'del', 'di', 'van', 'named', 'called'])
const ADDRESS = /(?:https?:\/\/|magnet:)\S+/
const QUOTED = /["“”„«]([^"“”„«»]{1,300})["“”»]/gu
const TOLD = /(?::\s+|(?<!\p{L})(?:that|saying|dass|que|che|dat)\s+)(\S.*)$/isu

/** Reads a text in quotes or behind a colon, else the one run of words that the rest does not explain. */
function findText({ name }: Field, asked: Asked, used: ReadonlySet<string>): Value | undefined {
  const { text, words, open, named } = asked
  const quoted = [...text.matchAll(QUOTED)]
  if (quoted.length > 1) return undefined
  const said = (quoted[0] ?? TOLD.exec(text))?.[1]?.trim()
  if (said) return { value: said, words: toWords(said) }
  const left = open.filter(word => !used.has(word))
  const run = words.slice(words.indexOf(left[0] ?? ''), words.lastIndexOf(left.at(-1) ?? '') + 1)
  const isMeant = named.some(
    word => ![word, ...meaningsOf(word)].some(each => toStem(each) === toStem(fold(name))),
  )
  const longest = IN_WORDS.test(name) ? LONGEST_RUN : 1
  const isOne = left.length > 0 && run.length <= longest
  // A value ends at a comma: "add the series Severance, season 2 is enough".
  const [value = ''] = isMeant && isOne ? asWritten(text, ...run).split(/[,;]/) : []
  return value === '' ? undefined : { value, words: run }
}

/** Tells whether a word stands for a tool's word. Such a word names nothing: "finished" is no download. */
function isCommon(word: string): boolean {
  return meaningsOf(word).some(meaning => meaning !== word)
}

const LONGEST_RUN = 6
/** Arguments that people give in several words; any other is a name. */
const IN_WORDS = /query|title|message|text|reason/

/** Returns words as the text has them, with what stands between. */
function asWritten(text: string, ...words: string[]): string {
  const plain = text.normalize('NFC')
  const folded = fold(plain)
  const from = folded.indexOf(words[0] ?? '')
  const last = words.at(-1) ?? ''
  return plain.slice(from, folded.indexOf(last, from) + last.length)
}

/** Returns a word without the endings that a plural or a verb may have. */
export function toStem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word
  return word
    .replace(/(?:(?<=[a-z]{3})(?:ies|ing|ed|en)|(?<=[^s])s|(?<=ss)es)$/u, '')
    .replace(/([bdgmnprt])\1$/u, '$1')
}
