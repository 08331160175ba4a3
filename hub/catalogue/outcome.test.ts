import { expect, test } from 'vitest'
import { toOutcome } from './outcome.ts'

const DATA = {
  items: [
    { id: 7, title: 'Dune' },
    { id: 8, title: 'Arrival' },
  ],
}
const JSON_TEXT = JSON.stringify(DATA)
const said = (text: string, structuredContent?: unknown) => ({
  content: [{ type: 'text' as const, text }],
  ...(structuredContent === undefined ? {} : { structuredContent }),
})

test.each([
  ['no data', said('4 items'), '4 items'],
  ['data and nothing else', { content: [], structuredContent: DATA }, JSON_TEXT],
  ['the data once more, indented', said(JSON.stringify(DATA, undefined, 2), DATA), JSON_TEXT],
  ['a rendering of the data', said('7 Dune, 8 Arrival', DATA), '7 Dune, 8 Arrival'],
  ['a mere headline', said('2 items', DATA), `2 items\n${JSON_TEXT}`],
  ['the text in the data', said('a long text', { content: 'a long text' }), 'a long text'],
  [
    'figures about the text',
    said('a long text', { lengthInWords: 'three' }),
    'a long text\n{"lengthInWords":"three"}',
  ],
  ['nothing at all', { content: [] }, '(no output)'],
])('an agent reads whichever form of a result is shorter and lacks nothing: %s', (_, result, shown) => {
  expect(toOutcome(result).text).toBe(shown)
})

test('a text that is known to be whole is all that an agent reads', () => {
  expect(toOutcome(said('2 films.', DATA), true)).toEqual({
    text: '2 films.',
    isError: false,
    structured: DATA,
  })
})
