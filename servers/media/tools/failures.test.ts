import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import {
  type Answer,
  FAULTS,
  type FaultyUpstream,
  ok,
  startFaultyUpstream,
} from '../../kit/testing/faulty-upstream.ts'
import { startWorld } from '../../kit/testing/server-world.ts'
import { media } from '../server.ts'
import { createHastyClock } from '../testing/hasty-clock.ts'

const ALL: Readonly<Record<string, Answer>> = { ...FAULTS, 'another shape': ok(5) }
const KEY = 'a-key-that-nobody-may-see'

/** Every tool, with the upstream that it calls and arguments that reach it. */
const CALLS = [
  ['search_media', 'JELLYFIN', { query: 'dune' }],
  ['search_media', 'RADARR', { query: 'dune' }],
  ['get_jellyfin_sessions', 'JELLYFIN', {}],
  ['get_recently_added', 'JELLYFIN', {}],
  ['request_movie', 'SEERR', { title: 'Dune' }],
  ['request_movie', 'RADARR', { title: 'Dune' }],
  ['request_show', 'SEERR', { title: 'Dune' }],
  ['request_show', 'SONARR', { title: 'Dune' }],
  ['get_requests', 'SEERR', {}],
  ['get_requests', 'RADARR', {}],
  ['get_upcoming', 'SONARR', {}],
  ['search_missing', 'RADARR', {}],
  ['search_missing', 'SONARR', { title: 'Dune' }],
  ['stop_jellyfin_session', 'JELLYFIN', { session: 'sam', confirm: true }],
  ['refresh_library', 'JELLYFIN', { waitSeconds: 0 }],
  ['refresh_library', 'JELLYFIN', { library: 'Films' }],
] as const

/** The message for each fault; every message also has the upstream's title, address and setting. */
const TOLD: Readonly<Record<string, RegExp>> = {
  'wrong key': /did not accept the key or password/,
  forbidden: /does not allow this/,
  'status 500': /failed inside/,
  slow: /did not answer within [12]0 s/,
  reset: /could not be reached/,
  garbage: /did not answer with JSON/,
  html: /it answered with a web page/,
  redirect: /it sends elsewhere/,
  huge: /answered with more than can be taken|did not answer with JSON/,
  'another shape': /answered in a form that is not known/,
}

let upstream: FaultyUpstream
beforeEach(async () => {
  upstream = await startFaultyUpstream()
})
afterEach(() => upstream[Symbol.asyncDispose]())

async function call(
  tool: string,
  prefix: string,
  args: Record<string, unknown>,
  options: { url?: string; isSlow?: boolean } = {},
) {
  const { url = upstream.url, isSlow = false } = options
  const environment = { [`${prefix}_URL`]: url, [`${prefix}_API_KEY`]: KEY }
  await using world = await startWorld(media, {
    clock: createHastyClock(isSlow),
    environment,
    watchers: false,
  })
  return await world.call(tool, args)
}

describe.each(CALLS)('%s over %s', (tool, prefix, args) => {
  test.each(Object.entries(ALL))('says what is wrong where it meets: %s', async (fault, answer: Answer) => {
    upstream.will(answer)
    const { isError, text } = await call(tool, prefix, args, { isSlow: fault === 'slow' })
    expect(isError).toBe(true)
    expect(text).toMatch(TOLD[fault] ?? /never/)
    expect(text).toContain(`Where: `)
    expect(text).toContain(upstream.url)
    expect(text).not.toContain(KEY)
  })

  test('says that nothing listens where it is down', async () => {
    const { url } = upstream
    await upstream[Symbol.asyncDispose]()
    const { isError, text } = await call(tool, prefix, args, { url })
    expect(isError).toBe(true)
    expect(text).toContain(`could not be reached at ${url}`)
    expect(text).toContain(`${prefix}_URL`)
  })
})

test.each(CALLS)('%s over %s ends at once when it is canceled', async (tool, prefix, args) => {
  upstream.will(FAULTS['slow'])
  const environment = { [`${prefix}_URL`]: upstream.url, [`${prefix}_API_KEY`]: KEY }
  await using world = await startWorld(media, { clock: createFakeClock(), environment, watchers: false })
  const canceling = new AbortController()
  const called = world.call(tool, args, canceling.signal)
  await upstream.nextRequest()
  canceling.abort(new Error('the client left'))
  expect(await called).toMatchObject({ isError: true, text: expect.stringContaining('the client left') })
})

describe('without any upstream', () => {
  test.each([
    ['search_media', { query: 'x' }, ['JELLYFIN_URL', 'RADARR_URL', 'SONARR_API_KEY']],
    ['get_jellyfin_sessions', {}, ['JELLYFIN_URL', 'JELLYFIN_API_KEY', 'Dashboard > API Keys']],
    ['get_recently_added', {}, ['JELLYFIN_URL']],
    ['request_movie', { title: 'x' }, ['SEERR_URL', 'SEERR_API_KEY']],
    ['request_movie', { title: 'x', via: 'radarr' }, ['RADARR_URL', 'Settings > General']],
    ['request_show', { title: 'x', via: 'sonarr' }, ['SONARR_URL']],
    ['get_requests', {}, ['SEERR_URL', 'RADARR_URL', 'SONARR_URL']],
    ['get_upcoming', {}, ['RADARR_URL', 'SONARR_URL']],
    ['search_missing', {}, ['RADARR_URL', 'SONARR_URL']],
    ['stop_jellyfin_session', { session: 'x' }, ['JELLYFIN_URL']],
    ['refresh_library', {}, ['JELLYFIN_URL']],
    ['diagnose_media', {}, ['JELLYFIN_URL', 'RADARR_URL', 'SONARR_URL', 'SEERR_URL']],
  ])('%s %j says which settings it lacks', async (tool, args, settings) => {
    await using world = await startWorld(media, { clock: createFakeClock(), environment: {} })
    const { isError, text } = await world.call(tool, args)
    expect(isError).toBe(true)
    for (const setting of settings) expect(text).toContain(setting)
  })
})

test('diagnose_media tells what does not answer as unknown, and fails at nothing', async () => {
  upstream.will(FAULTS['status 500'])
  const all = ['JELLYFIN', 'RADARR', 'SONARR', 'SEERR']
  const environment = Object.fromEntries(
    all.flatMap(prefix => [
      [`${prefix}_URL`, upstream.url],
      [`${prefix}_API_KEY`, KEY],
    ]),
  )
  await using world = await startWorld(media, { clock: createFakeClock(), environment, watchers: false })
  const { isError, text, data } = await world.call('diagnose_media', { title: 'Dune' })
  expect(isError).toBe(false)
  expect(text).toContain('Nobody can tell where "Dune" stands')
  expect((data['stages'] as { state: string }[]).every(({ state }) => state === 'unknown')).toBe(true)
  const whole = await world.call('diagnose_media')
  expect(whole.data['findings']).toHaveLength(4)
  expect(whole.text).toMatch(/Radarr: it could not be asked: Radarr failed inside/)
})
