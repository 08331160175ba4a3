import { withoutPolite } from './spoken.ts'
import { STOPS } from './synonyms.ts'
import { READ_CHARACTERS, stem, toParts } from './words.ts'

/** A fact to keep, by a short name. */
export interface Fact {
  key: string
  value: string
}

const LONGEST_KEY = 48

/** "remember that the NAS is at 10.0.0.5", "note: buy a disk"; undefined for other sentences. */
export function readFact(sentence: string): Fact | undefined {
  const text = withoutPolite(sentence.slice(0, READ_CHARACTERS)).trim()
  const found =
    /^(?:remember|keep in mind|don['’]?t forget|memori[sz]e)(?:\s+(?:that|this))?\s*[:,]?\s+(?!to\b)(.+)$/is.exec(
      text,
    ) ??
    /^(?:(?:make|take) a )?(?:note|memo)(?:\s+(?:that|to self))?\s*(?::|,|(?<=that|self|(?:make|take) a note)\s)\s*(.+)$/is.exec(
      text,
    )
  const said = found?.[1]?.trim().replace(/[.!]+$/, '')
  return said === undefined || said === '' ? undefined : toFact(said)
}

function toFact(said: string): Fact {
  const [, subject = '', value = ''] =
    /^(.{1,80}?)\s*(?:\b(?:is|are|was|were|equals)\b|=|:(?=\s))\s*(.+)$/is.exec(said) ?? []
  const key = toKey(subject)
  if (key !== '' && value !== '') return { key, value }
  return { key: toKey(said.split(/\s+/).slice(0, 6).join(' ')) || 'note', value: said }
}

function toKey(text: string): string {
  const parts = toParts(text)
  const telling = parts.filter(part => !STOPS.has(stem(part)))
  return (telling.length > 0 ? telling : parts).join('_').slice(0, LONGEST_KEY)
}

/** "what do you remember?", "what do you know about the NAS?", "show your notes". */
export function isRecall(sentence: string): boolean {
  const text = withoutPolite(sentence.slice(0, 200)).trim()
  return (
    /^what(?:['’]?s| all)? (?:do|did|can|have) (?:you|i) (?:remember|recall|know|noted?|stored?|save|tell you|told you|ask(?:ed)? you to remember)\b/i.test(
      text,
    ) ||
    /^(?:do you remember|recall)\b/i.test(text) ||
    /^(?:show|list|give me|read|what are)(?: me)?(?: all)? (?:my|your|the|stored|our)(?: stored| saved)? (?:notes|facts|memories|context)\b/i.test(
      text,
    )
  )
}

/** "forget what I said about the NAS": what it says about the fact; undefined for other sentences. */
export function readForget(sentence: string): string | undefined {
  const text = withoutPolite(sentence.slice(0, 300)).trim()
  const said = /^forget\s+(?:about\s+|that\s+|what i (?:said|told you) about\s+)?(.+?)[.!]*$/is.exec(
    text,
  )?.[1]
  return said === undefined || /^(?:it|that|this|to\b.*)$/is.test(said) ? undefined : said
}
