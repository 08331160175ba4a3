import { expect, test } from 'vitest'
import { checkCertificate } from './doctor.ts'

const DAY = 86_400_000
const files = ['/etc/cert.pem', '/etc/key.pem'] as const
const tls = { files, expiresAt: 100 * DAY }

test.each([
  [85, 'ok', /holds until Sat 1970-04-11/],
  [86.1, 'warning', /holds until .*: see why it was not renewed/],
  [100, 'problem', /\/etc\/cert\.pem ended Sat 1970-04-11 .*: renew it/],
] as const)('a certificate of 100 days, on day %d: %s', (day, level, what) => {
  expect(checkCertificate({ tls, timezone: 'UTC' }, day * DAY)).toMatchObject([
    { level, what: expect.stringMatching(what) },
  ])
})

test('without https there is nothing to say', () => {
  expect(checkCertificate({ tls: undefined, timezone: 'UTC' }, 0)).toEqual([])
})
