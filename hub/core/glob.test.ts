import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startProcessorClock } from '../../tests/support/processor-clock.ts'
import { matchesGlob, matchesGlobs } from './glob.ts'

test.for([
  ['get_*', 'get_time', true],
  ['get_*', 'get_', true],
  ['get_*', 'forget_time', false],
  ['*', '', true],
  ['*', 'a\nb', true],
  ['a', 'a', true],
  ['a', 'ab', false],
  ['', '', true],
  ['', 'a', false],
  ['*high', 'temp_high', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'acb', false],
  ['ab*ba', 'aba', false],
  ['a**b', 'ab', true],
  ['a.c', 'abc', false],
  ['[a]', '[a]', true],
  ['$(x)|y', '$(x)|y', true],
] as const)('%j fits %j: %s', ([pattern, name, expected]) =>
  expect(matchesGlob(pattern, name)).toBe(expected),
)

test('it agrees with a regular expression', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 }).map(all => all.join(''))
  const names = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }).map(all => all.join(''))
  fc.assert(
    fc.property(letters, names, (pattern, name) => {
      expect(matchesGlob(pattern, name)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name))
    }),
  )
})

test('promise 9: a pattern with many stars takes no time on a long text', () => {
  const spent = startProcessorClock()
  expect(matchesGlob(`${'*a'.repeat(30)}*b`, 'a'.repeat(50_000))).toBe(false)
  expect(spent()).toBeLessThan(500)
})

test('of several globs the last that fits decides', () => {
  expect(matchesGlobs(['*', '!stop_*'], 'stop_it')).toBe(false)
  expect(matchesGlobs(['*', '!stop_*', 'stop_it'], 'stop_it')).toBe(true)
  expect(matchesGlobs(['!stop_*', '*'], 'stop_it')).toBe(true)
  expect(matchesGlobs([], 'a')).toBe(false)
  expect(matchesGlobs(['!a'], 'b')).toBe(false)
})
