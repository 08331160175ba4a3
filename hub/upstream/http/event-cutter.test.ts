import { expect, test } from 'vitest'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { LONGEST_MESSAGE } from '../bounds.ts'
import { EventCutter, parseEvents } from './event-cutter.ts'

const EVENTS = [
  'event: message\ndata: {"a":1}\n\n',
  ': a comment\n\n',
  'id: 7\r\ndata: x\r\ndata: y\r\n\r\n',
  'data: unfinished',
]

test.each([1, 2, 3, 5, 8, 1_000])(
  'in pieces of %i bytes it hands on whole events, and loses nothing',
  size => {
    const events = new EventCutter(createFakeClock())
    const bytes = Buffer.from(EVENTS.join(''))
    const parts: string[] = []
    for (let at = 0; at < bytes.length; at += size) {
      const part = events.take(bytes.subarray(at, at + size))
      if (part) parts.push(part.toString())
    }
    if (size === 1) expect(parts).toEqual(EVENTS.slice(0, 3))
    expect(parts.join('') + events.rest()).toBe(EVENTS.join(''))
  },
)

test('an event of many lines is bounded as one of a single line is', () => {
  const events = new EventCutter(createFakeClock())
  const line = Buffer.from(`data: ${'x'.repeat(1024)}\n`)
  expect(() => {
    for (let size = 0; size <= LONGEST_MESSAGE; size += line.length) events.take(line)
  }).toThrow('a message over')
})

test.each([
  ['an id alone', 'id: 1\nretry: 1\n\n', [{ id: '1', retry: 1 }]],
  ['lines of data, some without a colon', 'data: {"a":\r\ndata\ndata:4}\r\n\r\n', [{ data: '{"a":\n\n4}' }]],
  ['a comment', ': hello\n\n', []],
  ['fields whose names begin like ours', 'identity: x\ndatabase: y\nretrying: 1\n\n', []],
  ['a retry that is no number', 'retry: soon\n\ndata: ü\n\n', [{ data: 'ü' }]],
])('%s', (_what, text, events) => {
  expect(parseEvents(Buffer.from(text))).toEqual(events)
})
