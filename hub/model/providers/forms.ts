import type { ModelEntry } from '../adapter.ts'
import type { Form, HistoryForm, ToolForm } from '../form/form.ts'
import { familyOf } from '../wire/entry.ts'

/** A form with what most providers want; each names what it wants otherwise. */
export function toForm(entry: ModelEntry, history: Partial<HistoryForm>, tools: Partial<ToolForm> = {}): Form {
  return {
    family: familyOf(entry),
    history: {
      callIds: 'any',
      bridge: false,
      merge: ['user'],
      startsWithUser: false,
      images: entry.vision ? 'user' : 'none',
      reasoning: 'all',
      foreignCall: 'nothing',
      flat: false,
      ...history,
    },
    tools: {
      most: 128,
      longestDescription: 1024,
      inlineRefs: false,
      without: ['$schema', '$id', '$comment'],
      largestRepeat: undefined,
      plainPatterns: false,
      leftOut: [],
      ...tools,
    },
  }
}

/**
 * What Mistral's models want, wherever they are hosted: ids of nine letters and digits (its error 3280), and no user's
 * message right after a result (its error 3230).
 */
export const MISTRAL_HISTORY = { callIds: 'nine', bridge: true, merge: ['user', 'assistant'] } as const
