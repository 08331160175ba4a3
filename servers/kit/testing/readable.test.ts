import { expect, test } from 'vitest'
import { assertReadable } from './readable.ts'

test.each([
  'Radarr could not be reached at http://127.0.0.1:40123.',
  '12 films, 252 GiB free, 2 MiB/s, 41 %; since 22 Nov 2026 14:05 UTC',
  'Process 1234567 node uses 812 B',
  'The log:\n```\n2026-11-22T14:05:00 {"id":123456789}\n```',
  'It said "{12345678}".',
  'Take 12345 players',
])('%j is readable', text => {
  expect(() => assertReadable(text)).not.toThrow()
})

test.each([
  ['{"a":1}', /braces/],
  ['size 123456789', /without a unit/],
  ['size 123456789.', /without a unit/],
  ['size 123456 B', /larger unit/],
  ['at 1795356300000 it', /unix time/],
  ['at 2026-11-22T14:05:00', /ISO/],
  ['at 14:05 it came', /without a zone/],
  ['hash 0123456789abcdef0123', /long id/],
  ['it is undefined', /nothing/],
  ['[object Object]', /nothing/],
  ['', /empty/],
])('%j is not', (text, message) => {
  expect(() => assertReadable(text)).toThrow(message)
})
