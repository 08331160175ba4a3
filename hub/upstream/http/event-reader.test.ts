import { expect, test } from 'vitest'
import { LONGEST_MESSAGE } from '../bounds.ts'
import { createEventReader } from './event-reader.ts'

function read(text: string) {
  const reader = createEventReader()
  const events: string[] = []
  reader.take(Buffer.from(text), data => events.push(data))
  return { events, lastEventId: reader.lastEventId }
}

test('the id of an event that broke off does not count: the rest is asked for from the one before', () => {
  const whole = 'id: 1\ndata: {}\n\n'
  expect(read(`${whole}id: 2\ndata: {"res`)).toEqual({ events: ['{}'], lastEventId: '1' })
  expect(read(`${whole}id: 2\ndata: {"res":\r\ndata\ndata:4}\r\n\r\n`)).toEqual({
    events: ['{}', '{"res":\n\n4}'],
    lastEventId: '2',
  })
})

test('a field whose name begins like another is none of ours', () => {
  const text = 'identity: x\ndatabase: y\nretrying: 1\n\n'
  expect(read(text)).toEqual({ events: [], lastEventId: undefined })
})

test('an event of many lines is bounded as one of a single line is', () => {
  const reader = createEventReader()
  const line = Buffer.from(`data: ${'x'.repeat(1024)}\n`)
  const delivered: string[] = []
  for (let size = 0; size < LONGEST_MESSAGE; size += 1024) reader.take(line, data => delivered.push(data))
  reader.take(Buffer.from('\n'), data => delivered.push(data))
  expect(reader.overlong).toBe(true)
})
