import { expect, test } from 'vitest'
import { type BuiltIn, decideServers, isConfigured, type ServerSources } from './decide-servers.ts'

const media: BuiltIn = {
  name: 'media',
  file: '/code/media.ts',
  always: false,
  envPrefixes: ['RADARR_', 'SONARR_'],
  decidedBy: ['MEDIA_CONFIG'],
  alsoSees: ['SHARED_'],
}
const metrics: BuiltIn = {
  name: 'metrics',
  file: '/code/metrics.ts',
  always: true,
  envPrefixes: ['METRICS_'],
}

const WORKS: ServerSources['sandbox'] = { why: undefined, wrap: () => ['sandboxed'] }

function decideAll(
  variables: Record<string, string>,
  configured: ServerSources['configured'] = {},
  sandbox = WORKS,
) {
  return decideServers({
    builtIns: [media, metrics],
    configured,
    dropIns: [],
    node: 'node',
    loader: 'loader',
    sandbox,
    childEnvironment: (prefixes = []) =>
      Object.fromEntries(
        Object.entries(variables).filter(([name]) => prefixes.some(prefix => name.startsWith(prefix))),
      ),
  })
}

function decide(variables: Record<string, string>, configured: ServerSources['configured'] = {}) {
  const { specs } = decideAll(variables, configured)
  return new Map(specs.map(spec => [spec.name, spec.transport.kind === 'stdio' ? spec.transport.env : {}]))
}

test.each([
  ['90s', 90_000],
  ['2m', 120_000],
  [60, 60_000],
  [3_600, 3_600_000],
  [600_000, 600_000],
  [0.5, 500],
])('a timeout of %s is %i ms, in the units of whoever the entry comes from', (timeout, milliseconds) => {
  const { specs } = decideAll({}, { x: { command: 'x', timeout, connectTimeout: timeout, isolated: true } })
  expect(specs.at(-1)).toMatchObject({
    callTimeout: milliseconds,
    connectTimeout: milliseconds,
    isolated: true,
  })
})

const sandboxed = (entry: object, why?: string) => {
  const sandbox = { why, wrap: () => ['sandboxed'] }
  const { specs, losers } = decideAll({}, { x: { command: 'npx', ...entry } }, sandbox)
  const spec = specs.find(({ name }) => name === 'x')
  const wrap = spec?.transport.kind === 'stdio' ? spec.transport.wrap : undefined
  return { wrapped: wrap !== undefined, why: spec ? spec.uncontained : losers.at(-1)?.reason }
}

test.each([
  [{}, { wrapped: true, why: undefined }],
  [{ trust: 'own' }, { wrapped: false, why: undefined }],
  [{ sandbox: 'off' }, { wrapped: false, why: undefined }],
  [{ sandbox: 'strict' }, { wrapped: true, why: undefined }],
  [{ command: 'docker' }, { wrapped: false, why: undefined }],
])('with a sandbox that works, an entry with %j: %j', (entry, expected) => {
  expect(sandboxed(entry)).toEqual(expected)
})

test.each([
  [{}, 'no bwrap'],
  [{ trust: 'own' }, undefined],
  [{ sandbox: 'off' }, undefined],
  [{ sandbox: 'strict' }, 'its entry says sandbox: strict, but no bwrap'],
])('with none, an entry with %j is not wrapped: %s', (entry, why) => {
  expect(sandboxed(entry, 'no bwrap')).toEqual({ wrapped: false, why })
})

test('the era of a built-in server is known, unless its entry names one', () => {
  expect(decideAll({}).specs[0]?.era).toBe('modern')
  expect(decideAll({}, { metrics: { era: 'legacy' } }).specs[0]?.era).toBe('legacy')
})

test('a built-in server is in no sandbox', () => {
  const { transport } = decideAll({}).specs[0] ?? {}
  expect(transport).toMatchObject({ kind: 'stdio' })
  expect(transport).not.toHaveProperty('wrap')
})

test.each([
  [{}, false],
  [{ RADARR_URL: 'http://nas' }, true],
  [{ SONARR_4K_URL: 'http://nas' }, true],
  [{ SONARR_URL_FILE: '/run/secrets/url' }, true],
  [{ RADARR_URL: '' }, false],
  [{ RADARR_API_KEY: 'k' }, false],
  [{ OTHER_URL: 'http://nas' }, false],
  [{ MEDIA_CONFIG: '/etc/media.json' }, true],
  [{ MEDIA_CONFIG_FILE: '/etc/media.json' }, true],
])('%j configures it: %s', (variables, configured) => {
  expect(isConfigured(media, variables)).toBe(configured)
})

test('what always runs runs, the others once configured by the environment or by an entry', () => {
  expect([...decide({}).keys()]).toEqual(['metrics'])
  const variables = { RADARR_URL: 'http://nas', SONARR_API_KEY: 'k', METRICS_INTERVAL: '1s' }
  const found = decide(variables)
  expect([...found.keys()]).toEqual(['media', 'metrics'])
  expect(found.get('media')).toEqual({ RADARR_URL: 'http://nas', SONARR_API_KEY: 'k' })
  expect(decide({}, { media: { env: { RADARR_URL: 'http://x' } } }).get('media')).toEqual({
    RADARR_URL: 'http://x',
  })
  expect([...decide({}, { media: {} }).keys()]).toEqual(['media', 'metrics'])
})

test('variables that are shared with other servers are seen, and make nothing run', () => {
  expect([...decide({ SHARED_URL: 'tcp://nas' }).keys()]).toEqual(['metrics'])
  const found = decide({ SHARED_URL: 'tcp://nas', RADARR_URL: 'http://nas' })
  expect(found.get('media')).toEqual({ RADARR_URL: 'http://nas', SHARED_URL: 'tcp://nas' })
})

test('false switches off what is configured', () => {
  expect([...decide({ RADARR_URL: 'http://nas' }, { media: false, metrics: false }).keys()]).toEqual([])
})

test('a disabled server is known and has its name, and is not among those that run', () => {
  const disabled = { disabled: true }
  const found = decideAll(
    {},
    { media: disabled, files: { command: 'npx', ...disabled }, x: { command: 'x' } },
  )
  expect(found.specs.map(({ name }) => name)).toEqual(['metrics', 'x'])
  expect(found.disabled).toMatchObject([
    { name: 'media', origin: 'built-in' },
    { name: 'files', origin: 'config', transport: { command: 'npx' } },
  ])
  expect(found.losers).toEqual([])
  const wrong = decideAll({}, { files: { command: 'npx', url: 'http://x', ...disabled } })
  expect(wrong.disabled).toEqual([])
  expect(wrong.losers).toMatchObject([{ name: 'files', reason: 'has both command and url; keep one' }])
})

test('a key without an address is told, other variables and what is switched off are not', () => {
  const reasonsOf = (...given: Parameters<typeof decideAll>) =>
    decideAll(...given).losers.map(({ reason }) => reason)
  expect(reasonsOf({ SONARR_API_KEY: 'k' })).toEqual([
    'SONARR_API_KEY is set, but no address: set SONARR_URL too; servers/media/README.md lists what else would do',
  ])
  expect(reasonsOf({ RADARR_4K_API_KEY_FILE: '/run/key' })).toEqual([
    expect.stringContaining('set RADARR_4K_URL too'),
  ])
  expect(reasonsOf({ SONARR_API_KEY: 'k', RADARR_URL: 'http://nas' })).toEqual([])
  expect(reasonsOf({ RADARR_QUALITY_PROFILE: 'HD', SONARR_API_KEY: '' })).toEqual([])
  expect(reasonsOf({ SONARR_API_KEY: 'k' }, { media: false })).toEqual([])
})
