import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createThinkingFilter, dropThoughts } from './thinking-filter.ts'

function filter(pieces: string[]): string {
  const thinking = createThinkingFilter()
  return pieces.map(piece => thinking.push(piece)).join('') + thinking.end()
}

const TEXTS: [given: string, shown: string][] = [
  ['', ''],
  ['Hello there', 'Hello there'],
  ['<think>hm</think>Hello', 'Hello'],
  ['<thinking>hm</thinking>\n\nHello', 'Hello'],
  ['\n <think>\nhm\n</think>\n\nHello\n', 'Hello'],
  ['<think></think>', ''],
  ['Hello <think>hm</think> there', 'Hello there'],
  ['Hello\n<think>hm</think>there', 'Hello\nthere'],
  ['<think>a</think><think>b</think>Hello', 'Hello'],
  ['<think>a</think> <thinking>b</thinking> Hello', 'Hello'],
  ['<think>unclosed for ever', ''],
  ['Hello <think>unclosed', 'Hello'],
  ['<thinking>a</think>still thinking', ''],
  ['<think>a < b </thin </thinking> c</think>Hello', 'Hello'],
  ['in`<think>`code', 'in`<think>`code'],
  ['a<think>b</think>', 'a<think>b</think>'],
  ['a < b <thinker> <thin', 'a < b <thinker> <thin'],
  ['  spaced  out  ', 'spaced  out'],
  [' \n ', ''],
  ['x <', 'x <'],
]

describe('createThinkingFilter for the start alone', () => {
  it.each([
    ['<think>hm</think>\n\nHello\n<think>is a tag', 'Hello\n<think>is a tag'],
    ['\n <thinking>a</thinking> <think>b</think>\n\nHello', 'Hello'],
    ['\n\nHello <think>', 'Hello <think>'],
    ['<thi', '<thi'],
    ['<think>unclosed', ''],
  ])('shows of %j only %j, at every cut', (given, shown) => {
    for (let at = 0; at <= given.length; at++) {
      const thinking = createThinkingFilter('start')
      expect(thinking.push(given.slice(0, at)) + thinking.push(given.slice(at)) + thinking.end()).toBe(shown)
    }
  })
})

describe('createThinkingFilter', () => {
  it.each(TEXTS)('shows of %j only %j', (given, shown) => {
    expect(filter([given])).toBe(shown)
  })

  it.each(TEXTS)('%j shows the same at every cut and character by character', (given, shown) => {
    for (let at = 0; at <= given.length; at++)
      expect(filter([given.slice(0, at), given.slice(at)])).toBe(shown)
    expect(filter([...given])).toBe(shown)
  })

  it('shows what is certain at once', () => {
    const thinking = createThinkingFilter()
    expect(['Hel', 'lo <b', ' there ', '<think', '>hm'].map(piece => thinking.push(piece))).toEqual([
      'Hel',
      'lo <b',
      ' there',
      '',
      '',
    ])
  })

  const words = fc.constantFrom(
    '<think>',
    '</think>',
    '<thinking>',
    '</thinking>',
    ' ',
    '\n',
    'a',
    '<',
    'thin',
    '>',
  )

  it('shows the same for every split of any text', () => {
    fc.assert(
      fc.property(fc.array(fc.array(words)), pieces => {
        const texts = pieces.map(piece => piece.join(''))
        expect(filter(texts)).toBe(filter([texts.join('')]))
        expect(filter([...texts.join('')])).toBe(filter([texts.join('')]))
      }),
      { numRuns: 500 },
    )
  })

  it('never shows a thought, and always what stands outside', () => {
    const part = fc.record({
      thought: fc.stringMatching(/^[T<> \n]{0,10}$/),
      said: fc.stringMatching(/^[s<> \n]{0,10}$/),
    })
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), parts => {
        const text = parts.map(({ thought, said }) => `\n<think>${thought}</think>${said}`).join('')
        const shown = filter([...text])
        expect(shown).not.toContain('T')
        expect(shown.replace(/\s/g, '')).toBe(parts.map(({ said }) => said.replace(/\s/g, '')).join(''))
      }),
    )
  })
})

describe('dropThoughts', () => {
  it.each([
    ['hm\nhm\n</think>\n\nHello', 'Hello'],
    ['</think>Hello', 'Hello'],
    ['hm\n</thinking>\nHello', 'Hello'],
    // A chat template that swallows the opening tag may leave the thought on one line with the reply.
    ['SECRETTHOUGHT</think>visible', 'visible'],
    ['SECRET `code` THOUGHT</think>visible', 'visible'],
    ['it is `<think>` they mean</think>visible', 'visible'],
    ['hm</think><think>more</think>Hello', 'Hello'],
    ['<think>hm</think>Hello\n</think>', 'Hello\n</think>'],
    ['a<think>b</think>', 'a<think>b</think>'],
    ['Close it with `</think>` please', 'Close it with `</think>` please'],
    ['Close it with ``</think>`` please', 'Close it with ``</think>`` please'],
    ['So:\n```\n</think>\n```\nDone', 'So:\n```\n</think>\n```\nDone'],
    ['Hello', 'Hello'],
  ])('of %j leaves %j', (given, left) => {
    expect(dropThoughts(given)).toBe(left)
  })
})
