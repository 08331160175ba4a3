import { expect, test } from 'vitest'
import { findId } from './short-ids.ts'

const known = [
  { id: 'apr_0mba1111', number: 3 },
  { id: 'apr_0mba2222', number: 33 },
  { id: 'apr_0mbb3333', number: 4 },
]

test.each([
  ['3', 'apr_0mba1111'],
  ['33', 'apr_0mba2222'],
  ['apr_0mbb', 'apr_0mbb3333'],
  ['0mbb', 'apr_0mbb3333'],
  ['apr_0mba1111', 'apr_0mba1111'],
  ['5', '5'],
  ['apr', 'apr'],
  ['0mbc', '0mbc'],
])('%j means %j', (given, id) => {
  expect(findId(given, known)).toBe(id)
})

test('a beginning of several ids is refused, and names them', () => {
  expect(() => findId('0mba', known)).toThrow('0mba begins 2 ids: apr_0mba1111, apr_0mba2222. Write more')
})
