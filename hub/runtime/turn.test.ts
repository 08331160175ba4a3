import { expect, test } from 'vitest'
import { createSemaphore } from '../core/semaphore.ts'
import { takeTurn } from './turn.ts'

const running = new AbortController().signal

test('one that is alone lets others in once it shares, and gives its place back once', async () => {
  const semaphore = createSemaphore(2)
  const turn = await takeTurn(semaphore, running, true)
  let isIn = false
  const other = semaphore.acquire().then(release => {
    isIn = true
    return release
  })
  await Promise.resolve()
  expect([isIn, turn.isAlone]).toEqual([false, true])
  turn.share()
  const release = await other
  expect(turn.isAlone).toBe(false)
  turn[Symbol.dispose]()
  release()
  ;(await semaphore.acquireAlone()).release()
})

test('nobody gets a place once the hub stops', async () => {
  const semaphore = createSemaphore(1)
  const stopping = new AbortController()
  using _turn = await takeTurn(semaphore, running)
  const waiting = takeTurn(semaphore, stopping.signal)
  stopping.abort(new Error('The hub is stopping'))
  await expect(waiting).rejects.toThrow('The hub is stopping')
})
