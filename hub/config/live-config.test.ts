import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ENDED_CERTIFICATE, SIGNED_KEY } from '../../tests/support/certificate.ts'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { createEnvironment } from './environment.ts'
import { createLiveConfig } from './live-config.ts'
import { loadConfig } from './load.ts'

test('a change takes effect; a wrong one is refused whole, and the old config stays in force', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'superbloom.yaml')
  const logged: string[] = []
  const log = createLog({ level: 'debug', now: () => 0, write: line => logged.push(JSON.parse(line).event) })
  writeFileSync(file, 'concurrency: 2\n')
  const environment = createEnvironment({ SUPERBLOOM_CONFIG: file })
  const live = createLiveConfig(loadConfig(environment), environment, log, systemClock)
  expect([live.current.concurrency, live.reload(), logged]).toEqual([2, false, []])

  writeFileSync(file, 'concurrency: 3\ntimezone: Mars/Base\n')
  expect([live.reload(), live.current.concurrency]).toEqual([false, 2])
  expect(live.problems).toEqual([
    `${file}:2: timezone: is not an IANA time zone such as Europe/Berlin (the config from before stays in force)`,
  ])

  writeFileSync(file, 'concurrency: 4\nservers: { x: { command: y, colour: red } }\n')
  expect([live.reload(), live.current.concurrency]).toEqual([true, 4])
  expect(live.problems).toEqual([`${file}: servers.x.colour: not a key that the hub knows; ignored`])
  expect(logged).toEqual(['config_refused', 'config_warning', 'config_changed'])
})

test('a certificate that ended is a problem', () => {
  using folder = makeTempFolder()
  for (const [name, text] of Object.entries({ cert: ENDED_CERTIFICATE, key: SIGNED_KEY }))
    writeFileSync(join(folder.path, name), text)
  const file = join(folder.path, 'superbloom.yaml')
  writeFileSync(file, 'timezone: UTC\ntls: { cert: cert, key: key }\n')
  const environment = createEnvironment({ SUPERBLOOM_CONFIG: file })
  const clock = { now: () => Date.parse('2025-01-01T12:00:00Z') }
  const live = createLiveConfig(
    loadConfig(environment),
    environment,
    createLog({ level: 'error', now: () => 0, write: String }),
    clock,
  )
  expect(live.problems).toEqual([])
  clock.now = () => Date.parse('2025-01-02T00:00:00Z')
  expect(live.problems).toEqual([
    `https: the certificate ${join(folder.path, 'cert')} ended Thu 2025-01-02 00:00: renew it`,
  ])
})
