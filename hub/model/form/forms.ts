import type { ModelEntry } from '../adapter.ts'
import type { Form, HistoryForm } from './form.ts'

function toForm({ provider, model, vision }: ModelEntry, history: Partial<HistoryForm> = {}): Form {
  return {
    family: `${provider}/${model}`,
    history: {
      callIds: 'any',
      bridge: false,
      merge: ['user'],
      startsWithUser: false,
      images: vision ? 'user' : 'none',
      reasoning: 'all',
      foreignCall: 'nothing',
      flat: false,
      ...history,
    },
    tools: {
      most: 128,
      longestDescription: 1024,
      inlineRefs: false,
      without: ['$schema'],
      largestRepeat: undefined,
      plainPatterns: false,
      leftOut: [],
    },
  }
}

/** How each provider wants its requests, by its name. */
export const FORMS = {
  openai: toForm,
  anthropic: toForm,
  google: toForm,
  mistral: toForm,
  deepseek: toForm,
  openrouter: toForm,
  compatible: (entry: ModelEntry) => toForm(entry, { reasoning: 'calls' }),
} satisfies Record<string, (entry: ModelEntry) => Form>
