import { expect, test } from 'vitest'
import { createEventMeter } from './event-meter.ts'

const STREAM =
  'event: message\ndata: {"a":1}\n\n: a comment\n\nid: 7\r\ndata: x\r\ndata: y\r\n\r\ndata: unfinished'

test.each([1, 2, 3, 5, 8, 1_000])('in pieces of %i bytes it counts the same', size => {
  const meter = createEventMeter()
  const bytes = Buffer.from(STREAM)
  let count = 0
  for (let at = 0; at < bytes.length; at += size) count += meter.add(bytes.subarray(at, at + size)).messages
  expect(count).toBe(3)
  expect(meter.pending).toBe('data: unfinished'.length)
})

test('an event of many lines is one that has begun', () => {
  const meter = createEventMeter()
  expect(meter.add(Buffer.from('data: x\n'.repeat(100)))).toEqual({ messages: 0, lines: 100 })
  expect(meter.pending).toBe(800)
})
