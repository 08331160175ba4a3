import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accessSetting, requireAccess } from './access.ts'
import type { Environment } from './env.ts'
import { ToolFailure } from './failure.ts'
import { pickInstance, readInstances } from './instances.ts'
import { required, secretSetting, urlSetting } from './settings.ts'

const spec = {
  title: 'Radarr',
  prefix: 'RADARR',
  settings: {
    URL: required(urlSetting({ purpose: 'where Radarr is' })),
    API_KEY: required(secretSetting({ purpose: 'its key', where: 'Radarr: Settings > General' })),
    ACCESS: accessSetting(),
  },
}
const read = (environment: Environment) => readInstances(spec, environment)
const ONE = { RADARR_URL: 'http://nas:7878', RADARR_API_KEY: 'k1' }
const FOUR = { RADARR_4K_URL: 'http://nas:7879', RADARR_4K_API_KEY: 'k2', RADARR_4K_ACCESS: 'read' }

test('reads instances by name, the one without a name first', () => {
  expect(
    read({ ...FOUR, ...ONE, RADARR_LIVING_ROOM_URL: 'http://x', RADARR_LIVING_ROOM_API_KEY: 'k3' }),
  ).toEqual([
    {
      name: 'radarr',
      title: 'Radarr',
      settings: { URL: 'http://nas:7878', API_KEY: 'k1', ACCESS: 'full' },
      variables: { URL: 'RADARR_URL', API_KEY: 'RADARR_API_KEY', ACCESS: 'RADARR_ACCESS' },
    },
    expect.objectContaining({
      name: '4k',
      title: 'Radarr (4k)',
      settings: { URL: 'http://nas:7879', API_KEY: 'k2', ACCESS: 'read' },
    }),
    expect.objectContaining({ name: 'living-room' }),
  ])
})

test('none where nothing of the prefix is set, or only what container engines put there', () => {
  expect(read({ RADARR_URL: '', SONARR_URL: 'http://x', RADARRX_URL: 'x' })).toEqual([])
  expect(
    read({ RADARR_SERVICE_HOST: '10.0.0.1', RADARR_PORT: 'tcp://x', RADARR_PORT_7878_TCP_ADDR: '10.0.0.1' }),
  ).toEqual([])
})

test('reads the files that NAME_FILE twins name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'instances-'))
  writeFileSync(join(folder, 'key'), 'k4\n')
  const [one] = read({ RADARR_URL: 'http://nas', RADARR_API_KEY_FILE: join(folder, 'key') })
  expect(one?.settings.API_KEY).toBe('k4')
  rmSync(folder, { recursive: true })
})

test.each([
  [{ RADARR_API_KEY: 'hunter2' }, /^RADARR_URL is not set/],
  [{ RADARR_4K_URL: 'http://nas' }, /^RADARR_4K_API_KEY is not set.*Settings > General/],
  [{ ...ONE, RADARR_APIKEY: 'hunter2' }, /^RADARR_APIKEY is not a setting; there are .*RADARR_API_KEY/],
  [
    { ...ONE, RADARR_4K_ACESS: 'hunter2' },
    /^RADARR_4K_ACESS is not a setting; there are .*RADARR_ACCESS.*, and each with a name between/,
  ],
  [{ ...ONE, RADARR_COLOUR: 'hunter2' }, /^RADARR_COLOUR is not a setting; there are RADARR_/],
  [
    { ...ONE, RADARR_RADARR_URL: 'http://y', RADARR_RADARR_API_KEY: 'hunter2' },
    /both name the Radarr "radarr"/,
  ],
  [
    { RADARR_API_KEY: 'hunter2', RADARR_4K_URL: 'ftp://nas' },
    /RADARR_URL is not set.*RADARR_4K_URL is set.*RADARR_4K_API_KEY is not set/s,
  ],
])('%j is told whole, without values', (environment, message) => {
  const told = read(environment)
    .map(({ problem }) => problem)
    .join('\n')
  expect(told).toMatch(message)
  expect(told).not.toMatch(/hunter2/)
})

test('what is wrong with one instance leaves the others as they are', () => {
  const [own, other] = read({ ...ONE, ...FOUR, RADARR_4K_URL: 'ftp://nas', RADARR_4K_ACCESS: 'some' })
  expect([own?.problem, own?.settings.URL]).toEqual([undefined, 'http://nas:7878'])
  expect(other?.problem).toMatch(/^RADARR_4K_URL is set to something else.*\nRADARR_4K_ACCESS is "some"/)
  expect(other?.settings).toMatchObject({ URL: '', ACCESS: 'full' })
})

test('a variable that belongs to no instance is refused', () => {
  expect(() => read({ RADARR_COLOUR: 'hunter2' })).toThrow(/^RADARR_COLOUR is not a setting/)
})

test('what others read is no mistake', () => {
  expect(() => readInstances({ ...spec, others: ['RADARR_COLOUR'] }, { RADARR_COLOUR: 'x' })).not.toThrow()
})

test('picks by name in any case, the first without one', () => {
  const all = read({ ...ONE, ...FOUR })
  expect(pickInstance(all, undefined, spec).name).toBe('radarr')
  expect(pickInstance(all, ' 4K ', spec).name).toBe('4k')
  expect(() => pickInstance(all, '8k', spec)).toThrow('There is no Radarr called "8k".')
})

test('without any, the failure says what to set and where to find it', () => {
  const pick = () => pickInstance(read({}), undefined, spec)
  expect(pick).toThrow(ToolFailure)
  expect(pick).toThrow(
    expect.objectContaining({
      failure: {
        what: 'Radarr is not configured here.',
        where: 'RADARR_URL, RADARR_API_KEY',
        why: 'RADARR_URL and RADARR_API_KEY are not set',
        fix: 'Ask the owner to set RADARR_URL and RADARR_API_KEY: RADARR_URL is where Radarr is; RADARR_API_KEY is its key (Radarr: Settings > General).',
        isUnconfigured: true,
      },
    }),
  )
})

test.each([
  ['read', 'change', false],
  ['read', 'full', false],
  ['change', 'change', true],
  ['change', 'full', false],
  ['full', 'full', true],
] as const)('access %s allows %s: %s', (ACCESS, needed, allowed) => {
  const [one] = read({ ...ONE, RADARR_ACCESS: ACCESS })
  if (!one) throw new Error('none')
  const ask = () => requireAccess(one, needed)
  if (allowed) expect(ask).not.toThrow()
  else
    expect(ask).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ where: 'RADARR_ACCESS' }) }),
    )
})

test('the instance without a name is the first also where the prefix has several words', () => {
  const exporters = { title: 'Node-exporter', prefix: 'NODE_EXPORTER', settings: { URL: spec.settings.URL } }
  const environment = { NODE_EXPORTER_ATTIC_URL: 'http://attic', NODE_EXPORTER_URL: 'http://nas' }
  const names = readInstances(exporters, environment).map(({ name }) => name)
  expect(names).toEqual(['node-exporter', 'attic'])
})
