import { expect, test } from 'vitest'
import { createMeter, untilReleased } from './meter.ts'

const row = (agent: string, tokens: number) => ({
  day: 'd',
  agent,
  tokens,
  cost_micros: 2 * tokens,
  wakes: 1,
})

test('what was used is read once a day, and kept up from then on', async () => {
  let reads = 0
  const meter = createMeter(async day => {
    reads++
    return day === 'd' ? [row('a', 5), row('b', 7)] : []
  })
  await Promise.all([meter.open('d'), meter.open('d')])
  expect(reads).toBe(1)
  meter.spend(row('a', 10))
  expect(meter.spent('d', 'a')).toEqual({ tokens: 15, micros: 30, wakes: 2 })
  expect(meter.spent('d')).toEqual({ tokens: 22, micros: 44, wakes: 3 })
  expect(meter.spent('d', 'nobody')).toEqual({ tokens: 0, micros: 0, wakes: 0 })
  await meter.open('e')
  expect(meter.spent('e')).toEqual({ tokens: 0, micros: 0, wakes: 0 })
})

test('a day that could not be read is read again', async () => {
  let fails = true
  const meter = createMeter(async () => {
    if (fails) throw new Error('locked')
    return [row('a', 5)]
  })
  await expect(meter.open('d')).rejects.toThrow('locked')
  fails = false
  await meter.open('d')
  expect(meter.spent('d').tokens).toBe(5)
})

test('reservations count together until they are given back, and who waits is told', async () => {
  const meter = createMeter(async () => [])
  await meter.open('d')
  const one = { day: 'd', agent: 'a', tokens: 3, micros: 4, wakes: 0 }
  const other = { day: 'd', agent: 'b', tokens: 5, micros: 6, wakes: 1 }
  meter.reserve(one)
  meter.reserve(other)
  expect(meter.reserved('d')).toEqual({ tokens: 8, micros: 10, wakes: 1 })
  expect(meter.reserved('d', 'a').tokens).toBe(3)
  expect(meter.reserved('e').tokens).toBe(0)
  const released = untilReleased(meter.released, new AbortController().signal)
  const stop = new AbortController()
  const stopped = untilReleased(meter.released, stop.signal)
  stop.abort(new Error('the end'))
  await expect(stopped).rejects.toThrow('the end')
  meter.release(one)
  meter.release(one)
  await released
  expect(meter.reserved('d').tokens).toBe(5)
  await expect(untilReleased(meter.released, stop.signal)).rejects.toThrow('the end')
})
