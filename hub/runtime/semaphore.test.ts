import { expect, test } from 'vitest'
import { createSemaphore } from './semaphore.ts'

/** Creates a semaphore and records who acquired it, in order. */
function createHall(size: number) {
  const semaphore = createSemaphore(size)
  const inside: string[] = []
  const leave = new Map<string, () => void>()
  const enter = async (name: string, signal?: AbortSignal) => {
    leave.set(name, await semaphore.acquire(signal))
    inside.push(name)
  }
  const enterAlone = async (name: string) => {
    leave.set(name, (await semaphore.acquireAlone()).release)
    inside.push(name)
  }
  return { semaphore, inside, enter, enterAlone, leave: (name: string) => leave.get(name)?.() }
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve))

test('at most so many hold it; the others wait in order of arrival', async () => {
  const hall = createHall(2)
  for (const name of ['a', 'b', 'c', 'd']) void hall.enter(name)
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
  hall.leave('b')
  await settled()
  hall.leave('a')
  await settled()
  expect(hall.inside).toEqual(['a', 'b', 'c', 'd'])
})

test('a place is given back once', async () => {
  const hall = createHall(1)
  for (const name of ['a', 'b', 'c']) void hall.enter(name)
  await settled()
  hall.leave('a')
  hall.leave('a')
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
})

test('one that gives up while it waits takes nobody’s place', async () => {
  const hall = createHall(1)
  const controller = new AbortController()
  void hall.enter('a')
  const given = hall.enter('b', controller.signal)
  void hall.enter('c')
  await settled()
  controller.abort(new Error('gone'))
  await expect(given).rejects.toThrow('gone')
  await expect(hall.enter('d', controller.signal)).rejects.toThrow('gone')
  hall.leave('a')
  await settled()
  expect(hall.inside).toEqual(['a', 'c'])
})

test('an abort after the place was given changes nothing', async () => {
  const hall = createHall(1)
  const controller = new AbortController()
  void hall.enter('a')
  const got = hall.enter('b', controller.signal)
  void hall.enter('c')
  await settled()
  hall.leave('a')
  await got
  controller.abort()
  hall.leave('b')
  await settled()
  expect(hall.inside).toEqual(['a', 'b', 'c'])
})

test('more room lets more in at once; less lets those go on that are in', async () => {
  const hall = createHall(0)
  for (const name of ['a', 'b', 'c', 'd']) void hall.enter(name)
  await settled()
  expect(hall.inside).toEqual([])
  hall.semaphore.resize(2)
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
  hall.semaphore.resize(1)
  hall.leave('a')
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
  hall.leave('b')
  await settled()
  expect(hall.inside).toEqual(['a', 'b', 'c'])
})

test('one that wants to be alone waits until all are gone, and keeps those out that came later', async () => {
  const hall = createHall(2)
  void hall.enter('a')
  void hall.enterAlone('b')
  void hall.enter('c')
  void hall.enterAlone('d')
  await settled()
  expect(hall.inside).toEqual(['a'])
  hall.leave('a')
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
  hall.leave('b')
  await settled()
  expect(hall.inside).toEqual(['a', 'b', 'c'])
  hall.leave('c')
  await settled()
  expect(hall.inside).toEqual(['a', 'b', 'c', 'd'])
})

test('one that was alone shares, and is one of the holders then', async () => {
  const hall = createHall(2)
  const place = await hall.semaphore.acquireAlone()
  for (const name of ['a', 'b']) void hall.enter(name)
  await settled()
  expect(hall.inside).toEqual([])
  place.share()
  place.share()
  await settled()
  expect(hall.inside).toEqual(['a'])
  place.release()
  place.release()
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
})

test('one that gives up waiting to be alone keeps nobody out', async () => {
  const hall = createHall(2)
  const controller = new AbortController()
  void hall.enter('a')
  const given = hall.semaphore.acquireAlone(controller.signal)
  void hall.enter('b')
  controller.abort(new Error('gone'))
  await expect(given).rejects.toThrow('gone')
  await settled()
  expect(hall.inside).toEqual(['a', 'b'])
})

test('nobody is alone in a semaphore without room', async () => {
  const hall = createHall(0)
  void hall.enterAlone('a')
  await settled()
  expect(hall.inside).toEqual([])
  hall.semaphore.resize(1)
  await settled()
  expect(hall.inside).toEqual(['a'])
})
