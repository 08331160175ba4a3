import { expect, test } from 'vitest'
import { createSemaphore } from '../core/semaphore.ts'
import { takeTurn } from './turn.ts'

const running = new AbortController().signal

test('who leaves gives the place to others, and waits for one to come back', async () => {
  const semaphore = createSemaphore(1)
  const turn = await takeTurn(semaphore, running)
  const comeBack = turn.leave()
  const alsoBack = turn.leave()
  const release = await semaphore.acquire()
  await alsoBack()
  let isBack = false
  const back = comeBack().then(() => {
    isBack = true
  })
  await Promise.resolve()
  expect(isBack).toBe(false)
  release()
  await back
  let isFree = false
  const other = semaphore.acquire().then(give => {
    isFree = true
    give()
  })
  await Promise.resolve()
  expect(isFree).toBe(false)
  turn[Symbol.dispose]()
  await other
})

test('a place that comes after the end, or after leaving again, goes to the next', async () => {
  const semaphore = createSemaphore(1)
  const turn = await takeTurn(semaphore, running)
  const first = turn.leave()()
  const second = turn.leave()
  await first
  const release = await semaphore.acquire()
  const back = second()
  turn[Symbol.dispose]()
  release()
  await back
  ;(await semaphore.acquire())()
})

test('who leaves and comes back while it waits for a place waits for that one', async () => {
  const semaphore = createSemaphore(1)
  const turn = await takeTurn(semaphore, running)
  const comeBack = turn.leave()
  const release = await semaphore.acquire()
  const first = comeBack()
  const second = turn.leave()()
  release()
  await Promise.all([first, second])
  turn[Symbol.dispose]()
  ;(await semaphore.acquire())()
})

test('nobody comes back once the hub stops', async () => {
  const stopping = new AbortController()
  const turn = await takeTurn(createSemaphore(1), stopping.signal)
  const comeBack = turn.leave()
  stopping.abort(new Error('The hub is stopping'))
  await expect(comeBack()).rejects.toThrow('The hub is stopping')
  turn[Symbol.dispose]()
})

test('one that is alone stays while it waits for a person, and leaves as others do once it shares', async () => {
  const semaphore = createSemaphore(2)
  const turn = await takeTurn(semaphore, running, true)
  const comeBack = turn.leave()
  let isIn = false
  const other = semaphore.acquire().then(release => {
    isIn = true
    return release
  })
  await comeBack()
  expect([isIn, turn.isAlone]).toEqual([false, true])
  turn.share()
  const release = await other
  expect(turn.isAlone).toBe(false)
  semaphore.resize(1)
  release()
  const comeBackLater = turn.leave()
  ;(await semaphore.acquire())()
  await comeBackLater()
  turn[Symbol.dispose]()
  ;(await semaphore.acquireAlone()).release()
})
