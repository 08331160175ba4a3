import { READ_CHARACTERS, toWords, type Word } from './words.ts'

/** A sentence from which the arguments are taken one after the other, so that no word serves twice. */
export interface Draft {
  /** What was found so far, by the argument's name. */
  values: Record<string, unknown>
  /** Takes the first match's first group; what the match covers is gone from the sentence. */
  take(pattern: RegExp): string | undefined
  /** Takes away a word or a run of words, if it is there as it is written. */
  drop(text: string): void
  /** What was not taken, with gaps where something was. */
  rest(): string
  words(): Word[]
  /** What was not taken, without the words at both ends that `isAside` gives away; after a colon, everything. */
  remaining(isAside: (word: string) => boolean): string
}

/** Holds the place of what was taken; no keyboard writes it. */
const GAP = '\u0000'

export function openDraft(sentence: string): Draft {
  let text = sentence.slice(0, READ_CHARACTERS).replaceAll(GAP, ' ')
  const cut = (start: number, length: number) => {
    text = text.slice(0, start) + GAP.repeat(length) + text.slice(start + length)
  }
  return {
    values: {},
    take(pattern) {
      const match = pattern.exec(text)
      if (match?.[1] === undefined) return undefined
      cut(match.index, match[0].length)
      return match[1].trim()
    },
    drop(part) {
      const start = text.toLowerCase().indexOf(part.toLowerCase())
      if (start >= 0) cut(start, part.length)
    },
    rest: () => text.replaceAll(GAP, ' '),
    words: () => toWords(text),
    remaining(isAside) {
      const afterColon = /:\s+([^\0]*[^\0\s])/.exec(text)?.[1]
      if (afterColon !== undefined) return withoutEnd(afterColon)
      const words = toWords(text)
      const first = words.findIndex(word => !isAside(word.text))
      const last = words.findLastIndex(word => !isAside(word.text))
      if (first < 0) return ''
      const before = /[^\s\0]*$/.exec(text.slice(0, words[first]?.start))?.[0].length ?? 0
      const after = /^[^\s\0]*/.exec(text.slice(words[last]?.end))?.[0].replace(/[.,;:!?]+$/, '').length ?? 0
      const kept = text.slice((words[first]?.start ?? 0) - before, (words[last]?.end ?? 0) + after)
      return kept.replace(/\s*\0+\s*/g, ' ').trim()
    },
  }
}

function withoutEnd(text: string): string {
  return text.replace(/\s+please[.!]*$/i, '').trim()
}
