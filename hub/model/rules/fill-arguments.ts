import type { KnownTool } from './catalogue.ts'
import { type Draft, openDraft } from './draft.ts'
import type { Field } from './fields.ts'
import { toNameParts } from './match-tools.ts'
import { withoutPolite } from './spoken.ts'
import { COMMON_VERBS, STOPS } from './synonyms.ts'
import { pickChoice, toNumber, toValue } from './values.ts'
import { stem, toParts, toStems } from './words.ts'

export interface Filled {
  arguments: Record<string, unknown>
  /** Required arguments that the sentence does not give. */
  missing: Field[]
}

const COUNTING = /^(?:limit|count|lines|n|num|number|top|max\w*|tail|head|days|minutes|hours|amount|size)$/i
const PLACE = /path|file|dir|folder|device|mount|location|destination|source/i
const ADDRESS = /url|uri|link|magnet|address/i

/**
 * What a sentence says for the arguments of a tool, best evidence first: `name=value`, listed choices, paths and
 * addresses, quoted text, numbers, flags, and the words that are left for the one required text.
 */
export function fillArguments(sentence: string, tool: KnownTool, used: ReadonlySet<string>): Filled {
  const draft = openDraft(withoutPolite(sentence))
  for (const fill of [stated, chosen, placed, quoted, counted, flagged, labelled]) {
    for (const field of inOrder(tool.fields)) {
      if (Object.hasOwn(draft.values, field.name)) continue
      const value = fill(field, draft, tool, used)
      if (value !== undefined) set(draft.values, field.name, value)
    }
  }
  const open = () => tool.fields.filter(field => field.required && !Object.hasOwn(draft.values, field.name))
  fillDefaults(open(), draft)
  fillRest(open(), draft, used)
  return { arguments: draft.values, missing: open() }
}

/** What is still missing of arguments that were gathered before. */
export function missingOf(tool: KnownTool, values: Record<string, unknown>): Field[] {
  return tool.fields.filter(field => field.required && !Object.hasOwn(values, field.name))
}

function inOrder(fields: Field[]): Field[] {
  return [...fields.filter(field => field.required), ...fields.filter(field => !field.required)]
}

function set(values: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true })
}

/** `limit=5`, `path: /etc/hosts`, `message: "it is done"`. */
function stated(field: Field, draft: Draft): unknown {
  const name = field.name.replace(/[\\^$.*|?+()[\]{}]/g, '\\$&')
  const value = `"[^"]*"|“[^”]*”|'[^']*'|\`[^\`]*\`|\\[[^\\]]*\\]|\\{.*\\}`
  const loose =
    field.kind === 'string' && field.choices.length === 0
      ? '[^;]+?(?=[,;]?\\s+\\w+\\s?[:=]|;|$)'
      : '[^\\s,;]+'
  const found =
    draft.take(new RegExp(`(?<![\\w-])${name}\\s*=\\s*(${value}|[^\\s,;]+)`, 'is')) ??
    draft.take(new RegExp(`(?<![\\w-])${name}\\s*:\\s*(${value}|${loose})`, 'is'))
  return found === undefined ? undefined : toValue(field, found)
}

function chosen(field: Field, draft: Draft, tool: KnownTool): unknown {
  if (field.choices.length === 0 || field.kind === 'boolean') return undefined
  const own = new Set(toNameParts(tool).map(stem))
  const choice = pickChoice(field.choices, draft.rest().replace(/^\s*show\b/i, ''), own)
  if (choice !== undefined) draft.drop(String(choice))
  return choice
}

function placed(field: Field, draft: Draft): unknown {
  if (field.choices.length > 0 || !['string', 'list'].includes(field.kind)) return undefined
  const said = `${field.name} ${field.description}`
  const wanted = ADDRESS.test(said) ? URLS : PLACE.test(said) ? PATHS : undefined
  if (!wanted || (field.kind === 'list' && !field.required)) return undefined
  if (field.kind === 'string') return draft.take(wanted)
  const all = takeAll(draft, wanted)
  return all.length > 0 ? all : undefined
}

const URLS = /(?<!\S)((?:[a-z][a-z0-9+.-]{1,12}:\/\/|magnet:)\S*[^\s.,;!?])/i
const PATHS =
  /(?<!\S)((?:~|\.{1,2})?\/(?:\S*[^\s.,;!?])?|[\w-]+\/[\w./-]*[^\s.,;!?]|[\w-]+\.[a-z]\w{0,4})(?=[\s.,;!?]|$)/i
const QUOTES = /(?<![^\s(:,])("[^"]+"|“[^”]+”|`[^`]+`|'[^']+'|‘[^’]+’)(?![\p{L}\p{N}])/u

function quoted(field: Field, draft: Draft, tool: KnownTool): unknown {
  if (field.choices.length > 0 || !['string', 'list'].includes(field.kind)) return undefined
  const texts = tool.fields.filter(other => other.kind === field.kind && other.choices.length === 0)
  if (!field.required && texts.length > 1) return undefined
  if (field.kind === 'string') {
    const text = draft.take(QUOTES)
    return text === undefined ? undefined : toValue(field, text)
  }
  const all = field.required ? takeAll(draft, QUOTES) : []
  return all.length > 0 ? all.map(text => text.slice(1, -1)) : undefined
}

function takeAll(draft: Draft, pattern: RegExp): string[] {
  const first = draft.take(pattern)
  return first === undefined ? [] : [first, ...takeAll(draft, pattern)]
}

/** A number that stands by the field's name, or any for required fields and for the one that counts something. */
function counted(field: Field, draft: Draft, tool: KnownTool): unknown {
  if (field.kind !== 'number') return undefined
  const names = toParts(field.name).filter(part => part.length > 1)
  const beside = names
    .map(part => draft.take(new RegExp(`\\b(\\d+(?:[.,]\\d+)?)\\s+${part}\\b`, 'i')))
    .find(Boolean)
  const after = names
    .map(part => draft.take(new RegExp(`\\b${part}(?: of| to)? (\\d+(?:[.,]\\d+)?)(?![\\w.])`, 'i')))
    .find(Boolean)
  const near = beside ?? after
  if (near !== undefined) return toNumber(near)
  const numbers = tool.fields.filter(other => other.kind === 'number')
  const only = numbers.length === 1 || field.required
  if (!(only && (field.required || COUNTING.test(field.name)))) return undefined
  const found = draft.take(/(?<![\w.:/-])(-?\d+(?:[.,]\d+)?(?: ?[a-z%][a-z/]{0,5}\b)?)(?![\w.:/-])/i)
  return found === undefined ? undefined : withoutUnit(found, field)
}

/** "500 kbps" only for a field that is counted in it; a number in another unit would be wrong by a thousand. */
function withoutUnit(text: string, field: Field): number | undefined {
  const [, digits = '', unit = ''] = /^(-?[\d.,]+)\s?(.*)$/s.exec(text) ?? []
  const isUnit = /^(?:[kmgt]i?b?(?:ps|it)?(?:\/s)?|%)$/i.test(unit)
  const fits = field.name.toLowerCase().includes(unit.toLowerCase().replace('/s', 'ps'))
  return isUnit && !fits ? undefined : toNumber(digits)
}

/** A flag is on where the sentence says its name, off where it says "no" or "without" before it. */
function flagged(field: Field, draft: Draft): unknown {
  if (field.kind !== 'boolean') return undefined
  const spoken = toParts(field.name).join('[\\s_-]+(?:the |its |all )?')
  const said = draft.take(
    new RegExp(`(\\b(?:(?:no|not|without|don['’]?t)\\s+)?(?:the )?${spoken}s?\\b)`, 'iu'),
  )
  return said === undefined ? undefined : !/^(?:no|not|without|don)/i.test(said)
}

/**
 * "container jellyfin" for a field that is the name of a container; a required one only with the last word, and not with
 * one that speaks of the tool itself ("why is the server slow"), an optional one only with a word that does not tell which
 * tool is meant: "are my containers healthy" names none.
 */
function labelled(field: Field, draft: Draft, tool: KnownTool, used: ReadonlySet<string>): unknown {
  if (field.kind !== 'string' || field.choices.length > 0) return undefined
  const texts = tool.fields.filter(other => other.kind === 'string' && other.choices.length === 0)
  const labels = new Set([...toStems(field.name), ...(texts.length === 1 ? toStems(field.description) : [])])
  const words = draft.words()
  const telling = field.required ? NONE : used
  const at = words.findIndex(
    ({ text }, index) =>
      isLabel(words[index - 1]?.text, labels) && isName(text) && !telling.has(stem(text.toLowerCase())),
  )
  const word = words[at]?.text
  if (word === undefined || (field.required && (at < words.length - 1 || isAside(word, used))))
    return undefined
  draft.drop(word)
  return word
}

const NONE: ReadonlySet<string> = new Set()

function isLabel(word: string | undefined, labels: ReadonlySet<string>): boolean {
  const part = stem((word ?? '').toLowerCase())
  return labels.has(part) && !STOPS.has(part)
}

function isName(word: string): boolean {
  return !STOPS.has(stem(word.toLowerCase())) && /^[\w.-]+$/.test(word) && /\d|[-_.]|^[a-z]{3,}$/i.test(word)
}

function fillDefaults(open: Field[], draft: Draft): void {
  for (const field of open) {
    const only = field.choices.length === 1 ? field.choices[0] : undefined
    const value = field.default ?? only
    if (value !== undefined) set(draft.values, field.name, value)
  }
}

/** The words that nothing else explains are the one text that is still required. */
function fillRest(open: Field[], draft: Draft, used: ReadonlySet<string>): void {
  const texts = open.filter(field => ['string', 'list'].includes(field.kind) && field.choices.length === 0)
  const [field] = texts
  if (!field || texts.length > 1) return
  const value = toValue(
    field,
    draft.remaining(word => isAside(word, used)),
  )
  if (value !== undefined) set(draft.values, field.name, value)
}

/** Words that tell nothing about a tool but may well be what is to be said or sent. */
const SAYABLE = new Set(['hello', 'hi', 'hey', 'thank', 'yes', 'no', 'not'])

function isAside(word: string, used: ReadonlySet<string>): boolean {
  const parts = toStems(word)
  return parts.every(
    part => (STOPS.has(part) && !SAYABLE.has(part)) || COMMON_VERBS.has(part) || used.has(part),
  )
}
