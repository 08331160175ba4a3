import { expect, it } from 'vitest'
import { decideCut } from './decide-cut.ts'

it.each([
  ['a count that follows the request', [9_000, 7_400], [10_100, 8_500], 'whole'],
  ['the count of a thrifty tokenizer', [9_000, 5_000], [10_100, 5_600], 'whole'],
  ['the same round number twice', [9_000, 4_096], [10_100, 4_096], { at: 4_096 }],
  // Ollama shortens a prompt that is too long to about half of num_ctx (ollama/ollama, llm/llama_server.go).
  ['the same number twice that is not round', [9_000, 2_050], [10_100, 2_050], { at: 2_050 }],
  ['one less than a round number, once', [9_000, 4_095], [10_100, 3_600], { at: 4_095 }],
  ['a round number by chance', [4_200, 4_096], [5_300, 5_150], 'whole'],
  ['only what was not cached', [9_000, 11], [10_100, 1_020], 'unclear'],
] as const)('tells %s', (_, [estimate, input], [later, laterInput], outcome) => {
  expect(decideCut({ estimate, input }, { estimate: later, input: laterInput })).toEqual(outcome)
})

it('tells a cut of one request by a round number', () => {
  expect(decideCut({ estimate: 9_000, input: 4_096 })).toEqual({ at: 4_096 })
  expect(decideCut({ estimate: 9_000, input: 7_400 })).toBe('whole')
})
