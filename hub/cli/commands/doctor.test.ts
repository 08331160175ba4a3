import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../../tests/support/temp-store.ts'
import { createEnvironment } from '../../config/environment.ts'
import { loadConfig } from '../../config/load.ts'
import { checkCertificate, checkZone } from './doctor.ts'

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

test.each([
  ['', {}, 1],
  ['timezone: UTC\n', {}, 0],
  ['', { TZ: 'UTC' }, 0],
])('a clock in UTC that nobody asked for is warned of: config %j, variables %j', (text, variables, count) => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'superbloom.yaml')
  writeFileSync(file, text)
  const environment = createEnvironment({ SUPERBLOOM_CONFIG: file, ...variables })
  const { origins } = loadConfig(environment)
  expect(checkZone({ timezone: 'UTC', origins }, environment)).toHaveLength(count)
})
