/** A word of a text as it stands there, with its place. */
export interface Word {
  text: string
  start: number
  end: number
}

/** How much of a text is read for its meaning; the rest of a long one is not looked at. */
export const READ_CHARACTERS = 2000

/** A message without the `@names` in front that say whom it is for. */
export function withoutMentions(text: string): string {
  return text.trimStart().replace(/^(?:@[\w-]{1,64}[\s,:]+){1,8}/, '')
}

/** The beginning of a text as it is read for its meaning: no runs of spaces, nothing endless. */
export function toSentence(text: string): string {
  return withoutMentions(text)
    .slice(0, 4 * READ_CHARACTERS)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\n\s*/g, '\n')
    .slice(0, READ_CHARACTERS)
    .trim()
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:[._'’@/:-]+[\p{L}\p{N}\p{M}]+)*/gu

/** The words of a sentence; names such as `atm-10`, `a.b.c` and `valheim_2` stay whole. */
export function toWords(text: string): Word[] {
  return [...text.slice(0, READ_CHARACTERS).replaceAll('_', '-').matchAll(WORD)].map(match => ({
    text: text.slice(match.index, match.index + match[0].length),
    start: match.index,
    end: match.index + match[0].length,
  }))
}

/** Lower-cased, without marks on letters. */
export function toPlain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase()
}

/** The parts of an identifier or of a text: "getDisk_health" → get, disk, health. */
export function toParts(text: string): string[] {
  const spaced = text.slice(0, READ_CHARACTERS).replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
  return toPlain(spaced).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The stems of a text's words, in order. */
export function toStems(text: string): string[] {
  return toParts(text.replace(/['’](?:s|re|ll|d|m|ve|t)\b/g, '')).map(stem)
}

/** What a word has in common with its plural, its -ing and its -ed: "processes" and "processing" → "process". */
export function stem(word: string): string {
  if (word === 'running') return word // "is it running" is not "run it"
  const singular = withoutPlural(word)
  const base = withoutEnding(singular)
  return base.length > 4 && base.endsWith('e') ? base.slice(0, -1) : base
}

function withoutPlural(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(?:ss|x|ch|sh|z)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

function withoutEnding(word: string): string {
  const cut = /^(.{3,})ing$/.exec(word)?.[1] ?? /^(.{3,})ed$/.exec(word)?.[1]
  if (cut === undefined || !/[aeiouy]/.test(cut)) return word
  return /([^aeioulsz])\1$/.test(cut) ? cut.slice(0, -1) : cut
}

/** Whether one is the other with one slip: a letter more, less, wrong or swapped (two in words of eight or more). */
export function isTypo(word: string, meant: string): boolean {
  const shorter = Math.min(word.length, meant.length)
  if (word[0] !== meant[0] || shorter < 4) return false
  const slips = editDistance(word, meant)
  if (shorter === 4) return slips === 1 && word.length === 4 && sameLetters(word, meant)
  return slips <= (shorter >= 8 ? 2 : 1)
}

function sameLetters(a: string, b: string): boolean {
  return [...a].sort().join('') === [...b].sort().join('')
}

/** Damerau's distance in its restricted form (optimal string alignment); 3 stands for anything above 2. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2 || a.length > 40 || b.length > 40) return 3
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const above = rows[i - 1] ?? []
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          (above[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (above[j - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    rows.push(row)
  }
  return Math.min(rows[a.length]?.[b.length] ?? 3, 3)
}
