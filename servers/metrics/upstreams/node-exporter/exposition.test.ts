import { expect, test } from 'vitest'
import { startProcessorClock } from '../../../../tests/support/processor-clock.ts'
import { parseExposition } from './exposition.ts'

test.each([
  ['a 1', 'a', [{ labels: {}, value: 1 }]],
  ['a{} 1e+09 1700000000000', 'a', [{ labels: {}, value: 1e9 }]],
  ['a{b="c",d="e f",} 2', 'a', [{ labels: { b: 'c', d: 'e f' }, value: 2 }]],
  ['a{b="C:\\\\x \\"q\\" \\n}"} 3\r', 'a', [{ labels: { b: 'C:\\x "q" \n}' }, value: 3 }]],
  ['a NaN\na +Inf\na -Inf', 'a', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
])('%j is read', (text, name, expected) => {
  const samples = parseExposition(text).get(name)
  const wanted = expected.map(one => (typeof one === 'number' ? { labels: {}, value: one } : one))
  expect(samples).toEqual(wanted)
})

test.each(['', '# HELP a b', '<!doctype html><title>Login</title>', '{"a": 1}', 'a', 'a{b="c" 1', '\0\0'])(
  '%j holds no sample',
  text => {
    expect(parseExposition(text).size).toBe(0)
  },
)

test('only what is wanted is kept', () => {
  expect([...parseExposition('a 1\nb 2', name => name === 'b').keys()]).toEqual(['b'])
})

test('a line without sense does not keep the server busy', () => {
  const spent = startProcessorClock()
  parseExposition(`a{${'b'.repeat(1_000_000)}} 1`)
  parseExposition(`a{${'b="'.repeat(300_000)}} 1`)
  expect(spent()).toBeLessThan(5000)
})
