import { expect, test } from 'vitest'
import { startProcessorClock } from '../../tests/support/processor-clock.ts'
import { createChanges, createNews } from './news.ts'

test('changes: the first look raises nothing, then what comes, each time anew', () => {
  const { look } = createChanges()
  expect(look(['a', 'b'])).toEqual([])
  expect(look(['b', 'c'])).toEqual(['c'])
  expect(look(['a', 'b', 'c'])).toEqual(['a'])
})

test('news: what fell out of a list and comes back is not new', () => {
  const { look } = createNews()
  expect(look(['a', 'b'])).toEqual([])
  expect(look(['c', 'b', 'c'])).toEqual(['c'])
  expect(look(['a', 'b'])).toEqual([])
})

test('news: an empty first look counts, and what is still listed is never forgotten', () => {
  const { look } = createNews(2)
  expect(look([])).toEqual([])
  expect(look(['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
  expect(look(['a', 'b', 'c'])).toEqual([])
  expect(look(['a'])).toEqual([])
})

test('a long history is compared in a moment', () => {
  const news = createNews()
  const keys = Array.from({ length: 10_000 }, (_, index) => `download:${index}`)
  news.look(keys)
  const spent = startProcessorClock()
  expect(news.look(keys.map(key => `${key}!`))).toHaveLength(10_000)
  expect(spent()).toBeLessThan(1000)
})
