import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createRecord, until } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { HealthCheck } from './health-check.ts'
import { decideLoss } from './loss.ts'

const TRANSPORT = { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} } as const
const answered = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `The server answered ${status}`, {
    status,
    statusText: '',
  })
const REFUSED = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const BUSY = answered(503)

const TIMED_OUT = new SdkError(SdkErrorCode.RequestTimeout, 'tools/call took longer than 60 s')

/** Creates the check of a server whose pings end in these ways, one after the other; the last one repeats. */
function openCheck(...ends: (Error | 'an answer' | 'silence')[]) {
  const clock = createFakeClock()
  const ended = new AbortController()
  const pings = createRecord<number>()
  const lost: string[] = []
  const states: (string | undefined)[] = []
  const check = new HealthCheck({
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
    onChange: () => states.push(check.silence),
    onLost: error => lost.push(String(error)),
  })
  const untilPing = (count: number) => pings.find(`ping ${count}`, number => number === count)
  const untilOver = () => until('it is over', () => clock.timers === 0)
  return { clock, ended, pings, lost, states, check, untilPing, untilOver }
}

test.each([
  ['an answer', 'an answer'],
  ['an error', new ProtocolError(-32_601, 'Method not found')],
  ['that it is asked too often', answered(429)],
] as const)('a server that answers a ping with %s is kept', async (_what, end) => {
  const { check, pings, lost, untilOver } = openCheck(end)
  check.failed(BUSY)
  check.failed(BUSY)
  await untilOver()
  expect(pings.all).toEqual([1])
  expect(lost).toEqual([])
})

test('a server where nobody listens any more is lost at once', async () => {
  const { check, pings, lost } = openCheck(REFUSED)
  check.failed(BUSY)
  await until('it is lost', () => lost.length > 0)
  expect(lost).toEqual(['Error: connect'])
  expect(pings.all).toEqual([1])
})

test('a gateway that stays busy is asked three times, ever more slowly; then the server is lost', async () => {
  const { clock, check, lost, pings } = openCheck(BUSY)
  check.failed(BUSY)
  await clock.armed(500)
  clock.advance(500)
  await clock.armed(1_000)
  expect(lost).toEqual([])
  clock.advance(1_000)
  await until('it is lost', () => lost.length > 0)
  expect(lost).toEqual([`${BUSY}`])
  expect(pings.all).toEqual([1, 2, 3])
})

test('one that was busy for a moment is kept, and is checked anew after the next doubt', async () => {
  const { clock, check, lost, untilPing, untilOver } = openCheck(BUSY, 'an answer')
  check.failed(BUSY)
  await clock.armed(500)
  clock.advance(500)
  await untilPing(2)
  await untilOver()
  check.failed(BUSY)
  await untilPing(3)
  expect(lost).toEqual([])
})

test('where another request is answered meanwhile the server is kept', async () => {
  const { clock, check, lost, pings, untilPing, untilOver } = openCheck(BUSY)
  check.failed(BUSY)
  await clock.armed(500)
  check.answered()
  clock.advance(500)
  await untilPing(2)
  await untilOver()
  expect(pings.all).toEqual([1, 2])
  expect(lost).toEqual([])
})

test('silence counts as no answer; the reason is why it was checked', async () => {
  const { clock, check, lost } = openCheck('silence')
  check.failed(BUSY)
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
  const { clock, ended, check, lost, pings } = openCheck(BUSY)
  check.failed(BUSY)
  await clock.armed(500)
  ended.abort(new Error('closed'))
  expect(clock.timers).toBe(0)
  check.failed(BUSY)
  expect(pings.all).toEqual([1])
  expect(lost).toEqual([])
})

test('three calls in a row without an answer are silence; an answer, an error too, ends it', () => {
  const { ended, states, check } = openCheck('an answer')
  check.callFailed(TIMED_OUT)
  check.callFailed(TIMED_OUT)
  check.callAnswered()
  check.callFailed(TIMED_OUT)
  check.callFailed(TIMED_OUT)
  expect(states).toEqual([])
  check.callFailed(TIMED_OUT)
  expect(states).toEqual(['3 calls in a row got no answer within 60 s'])
  check.callFailed(new ProtocolError(-32_602, 'wrong'))
  expect(states).toEqual(['3 calls in a row got no answer within 60 s', undefined])
  ended.abort(new Error('closed'))
})

test('five minutes without another timeout count as recovered', async () => {
  const { clock, check, lost, pings } = openCheck('an answer')
  for (let count = 0; count < 4; count++) check.callFailed(TIMED_OUT)
  await pings.find('a ping', () => true)
  clock.advance(5 * 60_000 - 1)
  expect(check.silence).toBe('4 calls in a row got no answer within 60 s')
  clock.advance(1)
  expect(check.silence).toBeUndefined()
  expect(lost).toEqual([])
  expect(clock.timers).toBe(0)
})

test('a silent server that does not answer a ping either is lost, and no timer is left', async () => {
  const { clock, ended, check, lost, pings } = openCheck('silence')
  for (let count = 0; count < 3; count++) check.callFailed(TIMED_OUT)
  clock.advance(10_000)
  await until('it is lost', () => lost.length > 0)
  expect(lost).toEqual(['Error: 3 calls in a row got no answer within 60 s, and neither did a ping'])
  expect(pings.all).toEqual([1])
  ended.abort(new Error('lost'))
  expect(clock.timers).toBe(0)
})
