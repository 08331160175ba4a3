import { describe, expect, it } from 'vitest'
import { isTypo, stem, toParts, toSentence, toWords } from './words.ts'

describe('stem', () => {
  it.each([
    ['processes', 'process'],
    ['processing', 'process'],
    ['disks', 'disk'],
    ['stopped', 'stop'],
    ['status', 'status'],
    ['memories', 'memory'],
    ['temperatures', stem('temperature')],
    ['paused', stem('pause')],
    ['cpu', 'cpu'],
    ['running', 'running'],
    ['string', 'string'],
  ])('%s → %s', (word, expected) => {
    expect(stem(word)).toBe(expected)
  })
})

describe('isTypo', () => {
  it.each([
    ['dsik', 'disk', true],
    ['proceses', 'process', true],
    ['temprature', 'temperature', true],
    ['valhiem', 'valheim', true],
    ['cat', 'car', false],
    ['disc', 'disk', false],
    ['start', 'stop', false],
    ['matrix', 'metric', false],
  ])('%s for %s: %s', (word, meant, expected) => {
    expect(isTypo(word, meant)).toBe(expected)
  })
})

describe('words', () => {
  it('keeps names whole and says where they stand', () => {
    expect(toWords('start atm-10 on my_host now').map(word => word.text)).toEqual([
      'start',
      'atm-10',
      'on',
      'my_host',
      'now',
    ])
    expect(toWords('a  bc')[1]).toEqual({ text: 'bc', start: 3, end: 5 })
  })

  it('splits identifiers and takes marks off letters', () => {
    expect(toParts('getDisk_health Zürich')).toEqual(['get', 'disk', 'health', 'zurich'])
  })

  it('reads only the beginning of an endless text', () => {
    expect(toSentence(`  a${' '.repeat(1_000_000)}b`)).toBe('a')
    expect(toSentence('a \t b\n\n\n c')).toBe('a b\nc')
    expect(toSentence('x'.repeat(1_000_000))).toHaveLength(2000)
  })
})
