import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import type { OfferKind } from './offer.ts'
import { watchLink } from './watch-link.ts'

const CALL_MS = 60_000
const TIMED_OUT = new SdkError(SdkErrorCode.RequestTimeout, 'tools/call took longer than 60 s')

function openWatch(ping: (signal: AbortSignal) => Promise<void> = async () => undefined) {
  const clock = createFakeClock()
  const unread = new Map<OfferKind, string>()
  const seen = { read: 0, deaf: [] as string[], states: [] as string[] }
  const link = { era: 'legacy', transport: 'stdio', unread, ping, readAgain: () => void seen.read++ } as const
  const watch = watchLink(link, {
    clock,
    random: () => 1,
    callTimeout: CALL_MS,
    signal: new AbortController().signal,
    onChange: () => seen.states.push(watch.state.state),
    onDeaf: error => seen.deaf.push(error.message),
  })
  return { clock, unread, seen, watch }
}

test('a list that cannot be read: degraded with the reason, read again ever more slowly, ready once it is', () => {
  const { clock, unread, seen, watch } = openWatch()
  expect(watch.state).toEqual({ state: 'ready', era: 'legacy', transport: 'stdio' })
  unread.set('prompts', 'no')
  watch.listed()
  expect(watch.state).toMatchObject({ state: 'degraded', error: 'its prompts cannot be listed: no' })
  for (const [wait, reads] of [
    [500, 1],
    [1_000, 2],
    [2_000, 3],
  ] as const) {
    clock.advance(wait - 1)
    expect(seen.read).toBe(reads - 1)
    clock.advance(1)
    expect(seen.read).toBe(reads)
    watch.listed()
  }
  unread.clear()
  watch.listed()
  expect(watch.state.state).toBe('ready')
  expect(clock.timers).toBe(0)
})

test('three calls in a row without an answer: degraded; an answer, an error too, makes it ready', () => {
  const { clock, seen, watch } = openWatch()
  watch.failed(TIMED_OUT)
  watch.failed(TIMED_OUT)
  watch.answered()
  watch.failed(TIMED_OUT)
  watch.failed(TIMED_OUT)
  expect(watch.state.state).toBe('ready')
  watch.failed(TIMED_OUT)
  expect(watch.state).toMatchObject({
    state: 'degraded',
    error: '3 calls in a row got no answer within 60 s',
  })
  watch.failed(new ProtocolError(-32_602, 'wrong'))
  expect(watch.state.state).toBe('ready')
  expect(seen.states).toEqual(['degraded', 'ready'])
  watch[Symbol.dispose]()
  clock.advance(10 * 60_000)
  expect(seen.deaf).toEqual([])
})

test('five minutes without another one count as recovered', () => {
  const { clock, watch } = openWatch()
  for (let count = 0; count < 4; count++) watch.failed(TIMED_OUT)
  clock.advance(5 * 60_000 - 1)
  expect(watch.state).toMatchObject({ error: '4 calls in a row got no answer within 60 s' })
  clock.advance(1)
  expect(watch.state.state).toBe('ready')
})

test('one that does not answer a ping either is deaf', async () => {
  const deaf = Promise.withResolvers<void>()
  const { clock, seen, watch } = openWatch(
    signal =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  for (let count = 0; count < 3; count++) watch.failed(TIMED_OUT)
  clock.advance(10_000)
  setImmediate(deaf.resolve)
  await deaf.promise
  expect(seen.deaf).toEqual(['3 calls in a row got no answer within 60 s, and neither did a ping'])
})
