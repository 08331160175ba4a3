import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../core/clock.ts'
import { type LabAnswer, type LabRequest, startLab } from '../demo/http.ts'
import { findPrograms } from './find-programs.ts'
import { PROGRAMS, type Program } from './programs.ts'

let opened = new AsyncDisposableStack()
afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

const page = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head></html>`

/** The answer of each program without a key, at the path that it is asked. */
const ANSWERS: Record<string, { at: string; answer: LabAnswer; version?: string }> = {
  sabnzbd: { at: '/api', answer: { body: { version: '5.0.4' } }, version: '5.0.4' },
  qbittorrent: { at: '/', answer: { body: page('qBittorrent WebUI') } },
  transmission: {
    at: '/transmission/rpc',
    answer: { status: 401, headers: { Server: 'Transmission' }, body: '<h1>401: Unauthorized</h1>' },
  },
  jellyfin: {
    at: '/System/Info/Public',
    answer: { body: { ServerName: 'tv', Version: '10.11.11', ProductName: 'Jellyfin Server', Id: 'a' } },
    version: '10.11.11',
  },
  radarr: { at: '/login', answer: { body: page('Login - Radarr') } },
  sonarr: { at: '/login', answer: { body: page('Login - Sonarr') } },
  seerr: {
    at: '/api/v1/status',
    answer: { body: { version: '3.4.1', commitTag: '69f7', updateAvailable: false, commitsBehind: 0 } },
    version: '3.4.1',
  },
  prometheus: {
    at: '/api/v1/status/buildinfo',
    answer: { body: { status: 'success', data: { version: '2.42.0', goVersion: 'go1.19.8' } } },
    version: '2.42.0',
  },
  alertmanager: {
    at: '/api/v2/status',
    answer: {
      body: { cluster: { status: 'ready' }, versionInfo: { version: '0.25.0' }, uptime: '', config: {} },
    },
    version: '0.25.0',
  },
  'node-exporter': { at: '/', answer: { body: page('Node Exporter') } },
  ntfy: { at: '/v1/health', answer: { body: { healthy: true } } },
}

const PROBED = PROGRAMS.filter(({ probe }) => probe)

/** Looks for all programs at the port of a server that answers as told. */
async function look(answer: (request: LabRequest) => LabAnswer, programs: readonly Program[] = PROBED) {
  const lab = opened.use(await startLab(answer))
  const port = Number(new URL(lab.url).port)
  const moved = programs.map(({ probe, ...rest }) => ({
    ...rest,
    ...(probe && { probe: { ...probe, ports: [port] } }),
  }))
  const found = await findPrograms({ programs: moved, hosts: ['127.0.0.1'], clock: systemClock })
  return found.map(({ program, address, version }) => ({
    name: program.name,
    address: address.replace(lab.url, ''),
    ...(version === undefined ? {} : { version }),
  }))
}

test('every program that is looked for has an answer here', () => {
  expect(Object.keys(ANSWERS).sort()).toEqual(PROBED.map(({ name }) => name).sort())
})

test.each(Object.entries(ANSWERS))(
  '%s is recognised by what it answers, also where it answers that everywhere, and nothing else is',
  async (name, { at, answer, version }) => {
    const expected = [{ name, address: '', ...(version === undefined ? {} : { version }) }]
    const elsewhere = { status: 404, body: 'Not Found' }
    expect(await look(({ url }) => (url.pathname === at ? answer : elsewhere))).toEqual(expected)
    expect(await look(() => answer)).toEqual(expected)
  },
)

test('a program below a path is found there, by its own redirect or at its usual path', async () => {
  const radarr = await look(({ url }) =>
    url.pathname.startsWith('/films')
      ? { body: page('Login - Radarr') }
      : { status: 302, headers: { Location: `/films${url.pathname}` }, body: '' },
  )
  expect(radarr).toEqual([{ name: 'radarr', address: '/films' }])
  const sabnzbd = await look(({ url }) =>
    url.pathname === '/sabnzbd/api' ? { body: { version: '4.5.0' } } : { status: 404, body: 'Not Found' },
  )
  expect(sabnzbd).toEqual([{ name: 'sabnzbd', address: '/sabnzbd', version: '4.5.0' }])
})

test('no other server is asked, whatever a redirect says', async () => {
  let asked = 0
  const other = opened.use(
    await startLab(() => {
      asked++
      return { body: page('Login - Radarr') }
    }),
  )
  expect(await look(() => ({ status: 302, headers: { Location: `${other.url}/login` }, body: '' }))).toEqual(
    [],
  )
  expect(asked).toBe(0)
})

test.each([
  ['another program', { body: page('Grafana') }],
  ['a redirect to itself', { status: 302, headers: { Location: '/login' }, body: '' }],
  ['a long answer', { body: 'x'.repeat(500_000) }],
  ['the name of a program in some text', { body: `${page('My links')}<a>Radarr</a> <a>qBittorrent</a>` }],
] satisfies [string, LabAnswer][])('%s at a usual port is none of ours', async (_what, answer) => {
  expect(await look(() => answer)).toEqual([])
})

test('what never answers is given up, and a version of others is cut', async () => {
  const silent = opened.use(await startLab(() => ({ body: '' })))
  silent.server.removeAllListeners('request')
  const { port } = new URL(silent.url)
  const programs = PROBED.map(program => ({
    ...program,
    ...(program.probe && { probe: { ...program.probe, ports: [Number(port)] } }),
  }))
  expect(await findPrograms({ programs, hosts: ['127.0.0.1'], clock: systemClock })).toEqual([])
  const [found] = await look(() => ({ body: { version: 'v'.repeat(500) } }))
  expect(found?.version?.length).toBeLessThan(80)
})
