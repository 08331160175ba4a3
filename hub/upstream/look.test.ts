import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createRecord, until } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { createLook } from './look.ts'
import { decideLoss } from './lost.ts'

const TRANSPORT = { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} } as const
const answered = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `The server answered ${status}`, {
    status,
    statusText: '',
  })
const REFUSED = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const BUSY = answered(503)

/** Creates a look at a server whose pings end in these ways, one after the other; the last one repeats. */
function openLook(...ends: (Error | 'an answer' | 'silence')[]) {
  const clock = createFakeClock()
  const ended = new AbortController()
  const pings = createRecord<number>()
  const lost: string[] = []
  const look = createLook({
    clock,
    random: () => 1,
    log: createLog({ level: 'error', now: () => 0, write: () => undefined }),
    callTimeout: 60_000,
    signal: ended.signal,
    decideLoss: error => decideLoss(error, { transport: TRANSPORT }),
    async ping(signal) {
      const end = ends[Math.min(pings.all.length, ends.length - 1)]
      pings.add(pings.all.length + 1)
      if (end instanceof Error) throw end
      if (end === 'silence')
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
    onLost: error => lost.push(String(error)),
  })
  const untilPing = (count: number) => pings.find(`ping ${count}`, number => number === count)
  const untilOver = () => until('it is over', () => clock.timers === 0)
  return { clock, ended, pings, lost, look, untilPing, untilOver }
}

test.each([
  ['an answer', 'an answer'],
  ['an error', new ProtocolError(-32_601, 'Method not found')],
  ['that it is asked too often', answered(429)],
] as const)('a server that answers a ping with %s is kept', async (_what, end) => {
  const { look, pings, lost, untilOver } = openLook(end)
  look.begin(BUSY)
  look.begin(BUSY)
  await untilOver()
  expect(pings.all).toEqual([1])
  expect(lost).toEqual([])
})

test('a server where nobody listens any more is lost at once', async () => {
  const { look, pings, lost } = openLook(REFUSED)
  look.begin(BUSY)
  await until('it is lost', () => lost.length > 0)
  expect(lost).toEqual(['Error: connect'])
  expect(pings.all).toEqual([1])
})

test('a gateway that stays busy is asked three times, ever more slowly; then the server is lost', async () => {
  const { clock, look, lost, pings } = openLook(BUSY)
  look.begin(BUSY)
  await clock.armed(500)
  clock.advance(500)
  await clock.armed(1_000)
  expect(lost).toEqual([])
  clock.advance(1_000)
  await until('it is lost', () => lost.length > 0)
  expect(lost).toEqual([`${BUSY}`])
  expect(pings.all).toEqual([1, 2, 3])
})

test('one that was busy for a moment is kept, and is looked at anew after the next doubt', async () => {
  const { clock, look, lost, untilPing, untilOver } = openLook(BUSY, 'an answer')
  look.begin(BUSY)
  await clock.armed(500)
  clock.advance(500)
  await untilPing(2)
  await untilOver()
  look.begin(BUSY)
  await untilPing(3)
  expect(lost).toEqual([])
})

test('where another request is answered meanwhile the server is kept', async () => {
  const { clock, look, lost, pings, untilPing, untilOver } = openLook(BUSY)
  look.begin(BUSY)
  await clock.armed(500)
  look.answered()
  clock.advance(500)
  await untilPing(2)
  await untilOver()
  expect(pings.all).toEqual([1, 2])
  expect(lost).toEqual([])
})

test('silence counts as no answer; the reason is why it was looked at', async () => {
  const { clock, look, lost } = openLook('silence')
  look.begin(BUSY)
  let from = 0
  for (const delay of [10_000, 500, 10_000, 1_000, 10_000]) {
    from = await clock.armed(delay, from)
    clock.advance(delay)
  }
  await until('it is lost', () => lost.length > 0)
  expect(lost).toEqual([`${BUSY}`])
  expect(clock.timers).toBe(0)
})

test('nothing goes on once the connection ended', async () => {
  const { clock, ended, look, lost, pings } = openLook(BUSY)
  look.begin(BUSY)
  await clock.armed(500)
  ended.abort(new Error('closed'))
  expect(clock.timers).toBe(0)
  look.begin(BUSY)
  expect(pings.all).toEqual([1])
  expect(lost).toEqual([])
})
