import { describe, expect, test } from 'vitest'
import { startProcessorClock } from '../../tests/support/processor-clock.ts'
import { decideChoice, matchTitle, readWanted } from './titles.ts'

const dunes = [
  { id: 438631, title: 'Dune', year: 2021 },
  { id: 841, title: 'Dune', year: 1984 },
  { id: 693134, title: 'Dune: Part Two', year: 2024 },
]
const matrices = [
  { id: 603, title: 'The Matrix', year: 1999 },
  { id: 604, title: 'The Matrix Reloaded', year: 2003 },
  { id: 94152, title: 'Matrix', year: 1973 },
]

test.each([
  ['Dune', { title: 'Dune', year: undefined }],
  [' Dune (2021) ', { title: 'Dune', year: 2021 }],
  ['Blade Runner 2049', { title: 'Blade Runner 2049', year: undefined }],
  ['1917', { title: '1917', year: undefined }],
])('%j is read as %j', (text, wanted) => {
  expect(readWanted(text)).toMatchObject(wanted)
})

test('a year that is given beats that of the title', () => {
  expect(readWanted('Dune (2021)', 1984)).toMatchObject({ title: 'Dune', year: 1984 })
})

describe('the choice', () => {
  test.each([
    ['the only one called so, among others', { title: 'dune part two' }, dunes, 693134],
    ['the one of the year', { title: 'Dune', year: 1984 }, dunes, 841],
    ['the one with the id, whatever it is called', { title: 'x', id: 841 }, dunes, 841],
    ['the one with the very article', { title: 'The Matrix' }, matrices, 603],
    [
      'an article less where nothing else is called so',
      { title: 'office' },
      [{ id: 1, title: 'The Office (US)', year: 2005 }],
      1,
    ],
    [
      'without accents and punctuation',
      { title: "amelie's way" },
      [{ id: 2, title: 'Amélie’s Way', year: 2001 }],
      2,
    ],
  ])('is %s', (_what, wanted, found, id) => {
    expect(decideChoice(wanted, found)).toMatchObject({ kind: 'one', found: { id } })
  })

  test('is a person’s where several are called so, those first', () => {
    const choice = decideChoice({ title: 'Dune' }, dunes.toReversed())
    expect(choice).toMatchObject({ kind: 'several', found: [{ id: 841 }, { id: 438631 }, { id: 693134 }] })
  })

  test('is a person’s where nothing is called so', () => {
    expect(decideChoice({ title: 'Duhne' }, dunes)).toMatchObject({ kind: 'several' })
  })

  test.each([[{ title: 'Dune', year: 1999 }], [{ title: 'Dune', id: 5 }]])('is none for %j', wanted => {
    expect(decideChoice(wanted, dunes)).toEqual({ kind: 'none' })
  })
})

test.each([
  ['dune', 'Dune', 'exact'],
  ['dune', 'Dune: Part Two', 'part'],
  ['dune', 'Arrival', 'no'],
  ['!', 'Arrival', 'no'],
])('%j in %j: %s', (wanted, title, match) => {
  expect(matchTitle(wanted, title)).toBe(match)
})

test('a title without sense does not keep the server busy', () => {
  const spent = startProcessorClock()
  expect(matchTitle('Dune', `Dune${' '.repeat(200_000)}x`)).not.toBe('no')
  expect(spent()).toBeLessThan(1000)
})
