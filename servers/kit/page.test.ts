import { expect, test } from 'vitest'
import { page, toMoreText } from './page.ts'

const films = [...Array(48).keys()]

test.each([
  [films, 0, 10, 10, true, '10 of 48 films; call again with offset 10 for more.'],
  [films, 10, 10, 10, true, '11 to 20 of 48 films; call again with offset 20 for more.'],
  [films, 40, 10, 8, false, '41 to 48 of 48 films.'],
  [films, 48, 10, 0, false, 'Nothing from offset 48 on; there are only 48 films.'],
  [films, 0, 48, 48, false, undefined],
  [[], 0, 10, 0, false, undefined],
])('the page of %j from %i, at most %i', (items, offset, limit, length, more, text) => {
  const part = page(items, { offset, limit })
  expect(part).toMatchObject({ total: items.length, offset, more })
  expect(part.items).toHaveLength(length)
  expect(toMoreText(part, 'film')).toBe(text)
})
