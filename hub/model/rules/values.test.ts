import { describe, expect, it } from 'vitest'
import type { Field } from './fields.ts'
import { pickChoice, toNumber, toOrdinal, toValue } from './values.ts'

const field = (kind: Field['kind'], choices: Field['choices'] = []): Field => ({
  name: 'x',
  kind,
  description: '',
  required: true,
  choices,
})

describe('toValue', () => {
  it.each<[Field['kind'], string, unknown]>([
    ['string', ' "a b" ', 'a b'],
    ['string', '   ', undefined],
    ['number', 'about 12 please', 12],
    ['number', '2,5', 2.5],
    ['number', 'five', 5],
    ['number', 'many', undefined],
    ['boolean', 'Yes', true],
    ['boolean', 'off', false],
    ['boolean', 'maybe', undefined],
    ['list', 'a, b and "c d"', ['a', 'b', 'c d']],
    ['list', '[1, "x"]', [1, 'x']],
    ['list', ' , ', undefined],
    ['object', '{"a": 1}', { a: 1 }],
    ['object', '[1]', undefined],
    ['object', 'nonsense', undefined],
  ])('a %s from %o is %o', (kind, text, expected) => {
    expect(toValue(field(kind), text)).toEqual(expected)
  })

  it('takes only what is among the choices', () => {
    expect(toValue(field('number', [10, 20]), 'twenty, so 20')).toBe(20)
    expect(toValue(field('string', ['cpu', 'memory']), 'by ram')).toBe('memory')
    expect(toValue(field('string', ['cpu', 'memory']), 'colour')).toBeUndefined()
  })
})

describe('pickChoice', () => {
  it.each([
    ['MC-Creative', 'mc-creative'],
    ['the mc creative one', 'mc-creative'],
    ['atm10', 'atm-10'],
    ['valhiem', 'valheim'],
    ['minecraft', undefined],
  ])('%s → %s', (text, expected) => {
    expect(pickChoice(['mc-creative', 'atm-10', 'valheim'], text)).toBe(expected)
  })

  it('prefers the longest of several', () => {
    expect(pickChoice(['atm', 'atm-10'], 'atm 10')).toBe('atm-10')
    expect(pickChoice(['atm', 'atm-10'], 'atm')).toBe('atm')
  })
})

it.each([
  ['the second one', 3, 1],
  ['3', 3, 2],
  ['#1', 3, 0],
  ['the last', 3, 2],
  ['4', 3, undefined],
  ['check 2 disks', 3, undefined],
  ['the last', 0, undefined],
])('%s of %i is %s', (text, count, expected) => {
  expect(toOrdinal(text, count)).toBe(expected)
})

it('reads numbers as digits and as words', () => {
  expect(['7', '-2.5', 'Twelve', 'constructor', '1e5'].map(toNumber)).toEqual([
    7,
    -2.5,
    12,
    undefined,
    undefined,
  ])
})

it('a word of the tool itself names no choice in another form of it', () => {
  const states = ['downloading', 'paused']
  const own = new Set(['download', 'status'])
  expect(pickChoice(states, 'download status', own)).toBeUndefined()
  expect(pickChoice(states, 'which are downloading', own)).toBe('downloading')
  expect(pickChoice(states, 'download status')).toBe('downloading')
})
