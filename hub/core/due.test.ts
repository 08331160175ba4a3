import { expect, test } from 'vitest'
import { combineSources } from './due.ts'

function createSource(due: number | undefined, more = false) {
  const source = {
    due,
    fired: 0,
    nextDue: () => Promise.resolve(source.due),
    async fire() {
      source.fired++
      source.due = undefined
      return more
    },
  }
  return source
}

test('many sources are due when the first of them is, and only what is due acts', async () => {
  const sources = [createSource(undefined), createSource(20), createSource(10)]
  let now = 0
  const all = combineSources(sources, () => now)
  expect(await all.nextDue()).toBe(10)
  now = 10
  expect(await all.fire()).toBe(false)
  expect(sources.map(({ fired }) => fired)).toEqual([0, 0, 1])
  expect(await all.nextDue()).toBe(20)
  now = 30
  await all.fire()
  expect(await all.nextDue()).toBeUndefined()
})

test('what one of them left for another turn is said', async () => {
  const all = combineSources([createSource(0, true), createSource(0)], () => 0)
  expect(await all.fire()).toBe(true)
})

test('one that fails keeps nothing from the others, and is heard of', async () => {
  const broken = { ...createSource(0), fire: () => Promise.reject(new Error('disk full')) }
  const after = createSource(0)
  const all = combineSources([broken, after], () => 0)
  await expect(all.fire()).rejects.toThrow('disk full')
  expect(after.fired).toBe(1)
})
