import { expect, test } from 'vitest'
import type { Certificate } from '../../config/certificate.ts'
import { checkCertificate } from './doctor.ts'

const DAY = 86_400_000
const tls = { files: ['/etc/cert.pem', '/etc/key.pem'], expiresAt: 100 * DAY } as unknown as Certificate

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
