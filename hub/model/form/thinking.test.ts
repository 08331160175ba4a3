import { describe, expect, it } from 'vitest'
import { providers } from '../providers/index.ts'
import type { HistoryForm } from './form.ts'
import { assistant } from './testing/messages.ts'
import { toThinking } from './thinking.ts'

const base = providers.anthropic.form({
  provider: 'anthropic',
  baseUrl: 'http://h',
  model: 'm',
  vision: false,
})
const form = (history: Partial<HistoryForm>) => ({ ...base, history: { ...base.history, ...history } })
const own = { by: base.family, text: 'hm', parts: { signature: 'x' } }
const foreign = { by: 'anthropic/m at http://another', text: 'hm' }
const detail = (id: string) => ({ type: 'reasoning.encrypted', data: 'x', id })
const signed = (...ids: string[]) => ({ by: base.family, text: 'hm', parts: ids.map(detail) })
const standIn = {
  type: 'reasoning.encrypted',
  data: 'skip_thought_signature_validator',
  format: 'google-gemini-v1',
  index: 0,
  id: '1',
}
const empty = { by: base.family, text: '' }

describe('toThinking', () => {
  it.each([
    ['own thoughts go back', { reasoning: 'all' }, assistant('a', [], own), own],
    ['only beside calls', { reasoning: 'calls' }, assistant('a', [], own), undefined],
    ['beside calls', { reasoning: 'calls' }, assistant('a', ['1'], own), own],
    ['never', { reasoning: 'none' }, assistant('a', ['1'], own), undefined],
    ['those of others do not', { reasoning: 'all' }, assistant('a', ['1'], foreign), undefined],
    [
      'an empty thought stands for that of others',
      { reasoning: 'all', foreignCall: 'empty-reasoning' },
      assistant('a', [], foreign),
      empty,
    ],
    [
      'only beside calls, where only those get theirs back',
      { reasoning: 'calls', foreignCall: 'empty-reasoning' },
      assistant('a', [], foreign),
      undefined,
    ],
    [
      'a signature stands beside the first call',
      { foreignCall: 'gemini-placeholder' },
      assistant('a', ['1', '2'], foreign),
      {
        ...empty,
        extras: [{ google: { thought_signature: 'skip_thought_signature_validator' } }, null],
      },
    ],
    ['none without a call', { foreignCall: 'gemini-placeholder' }, assistant('a', [], foreign), undefined],
    [
      'one detail for the first call',
      { foreignCall: 'gemini-details' },
      assistant('a', ['1', '2'], foreign),
      { ...empty, parts: [standIn] },
    ],
    [
      'own details of the first call go back',
      { foreignCall: 'gemini-details' },
      assistant('a', ['1', '2'], signed('1')),
      signed('1'),
    ],
    [
      'own details go back without calls',
      { foreignCall: 'gemini-details' },
      assistant('a', [], signed('1')),
      signed('1'),
    ],
    [
      'details of a call that has another id now do not: OpenRouter sends stale ids',
      { foreignCall: 'gemini-details' },
      assistant('a', ['1', '2'], signed('0')),
      { ...empty, parts: [standIn] },
    ],
    [
      'nor do those of several calls',
      { foreignCall: 'gemini-details' },
      assistant('a', ['1', '2'], signed('1', '2')),
      { ...empty, parts: [standIn] },
    ],
  ] as const)('%s', (_, history, message, expected) => {
    expect(toThinking(message, form(history))).toEqual(expected)
  })
})
