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

function decide(variables: Record<string, string>, configured: ServerSources['configured'] = {}) {
  const { specs } = decideServers({
    builtIns: [media, metrics],
    configured,
    dropIns: [],
    node: 'node',
    loader: 'loader',
    childEnvironment: (prefixes = []) =>
      Object.fromEntries(
        Object.entries(variables).filter(([name]) => prefixes.some(prefix => name.startsWith(prefix))),
      ),
  })
  return new Map(specs.map(spec => [spec.name, spec.transport.kind === 'stdio' ? spec.transport.env : {}]))
}

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
