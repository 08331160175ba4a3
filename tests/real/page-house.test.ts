import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepRunning } from '../../hub/demo/machine.ts'
import { SABNZBD_KEY, type Sabnzbd, startSabnzbd } from '../../hub/demo/sabnzbd.ts'
import { type FaultyUpstream, ok, startFaultyUpstream } from '../../servers/kit/testing/faulty-upstream.ts'
import { createFixtureHost, type FixtureHost } from '../../servers/metrics/machine/fixture-host.ts'
import { type Jellyfin, startJellyfin, toTranscodingSession } from '../lab/jellyfin.ts'
import { openClient } from '../support/clients.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { linkTo, messageBox } from './page/steps.ts'

const HOUR = 3_600_000
const LONG = 'y'.repeat(200)

const pages = usePages()
const stack = new AsyncDisposableStack()
let host: FixtureHost
let prometheus: FaultyUpstream
let sabnzbd: Sabnzbd
let jellyfin: Jellyfin
let hub: TestHub
beforeAll(async () => {
  host = stack.use(createFixtureHost())
  stack.use(keepRunning(host))
  sabnzbd = stack.use(await startSabnzbd({ 'Big.Buck.Bunny.2160p': 64_000, [LONG]: 2_000 }))
  jellyfin = stack.use(await startJellyfin())
  jellyfin.state.sessions.push(toTranscodingSession())
  const history = join(stack.use(makeTempFolder()).path, 'history.json')
  writeFileSync(history, JSON.stringify({ curves: [curve('cpu', ''), curve('disk', `/${LONG}`)] }))
  prometheus = stack.use(await startFaultyUpstream())
  prometheus.route({
    'GET /api/v1/alerts': ok({ status: 'success', data: { alerts: [] } }),
    'POST /api/v1/query_range': ({ body }) => answerRange(new URLSearchParams(body)),
  })
  const servers = {
    metrics: {
      env: {
        PROMETHEUS_URL: prometheus.url,
        METRICS_HOST_ROOT: host.root,
        METRICS_HOST_NAME: 'nas',
        METRICS_HISTORY: history,
        NODE_EXPORTER_ATTIC_URL: 'http://127.0.0.1:9',
      },
    },
    downloads: { env: { SABNZBD_URL: sabnzbd.url, SABNZBD_API_KEY: SABNZBD_KEY } },
    media: { env: { JELLYFIN_URL: jellyfin.url, JELLYFIN_API_KEY: jellyfin.apiKey } },
  }
  const charts = [
    { title: 'Power of the house', query: 'sum by (room) (watts)', unit: 'W' },
    { title: 'Nobody measures this', query: 'nothing' },
  ]
  const dashboard = {
    charts,
    tiles: [{ tool: 'get_processes', arguments: { limit: 3 }, title: 'Busy programs' }],
  }
  hub = stack.use(await startTestHub({ config: JSON.stringify({ servers, dashboard }) }))
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const fact = { agent: 'homelab', scope: 'agent', key: 'house/Bins', value: `Paper on Friday ${LONG}` }
  await client.call('hub_store_fact', fact)
  await client.call('hub_publish_event', { type: 'door_bell', payload: { at: LONG } })
  await client.call('hub_create_schedule', { delay: '2h', reason: `Water the ${LONG}` })
  await client.call('hub_create_schedule', { delay: '1s', reason: `Feed the ${LONG}` })
})
afterAll(() => stack.disposeAsync())

/** Answers a range of a query as Prometheus does: one series that grows from 40 by 1 with each step. */
function answerRange(asked: URLSearchParams) {
  const [start, end, step] = ['start', 'end', 'step'].map(name => Number(asked.get(name)))
  const values: [number, string][] = []
  for (let at = start ?? 0; at <= (end ?? 0); at += step ?? 1) values.push([at, `${40 + values.length}`])
  const result = asked.get('query')?.includes('watts') ? [{ metric: { room: 'attic' }, values }] : []
  return ok({ status: 'success', data: { resultType: 'matrix', result } })
}

/** Returns a curve of a week that ends now, as the metrics server keeps it. */
function curve(kind: string, name: string) {
  const values = (count: number) => Array.from({ length: count }, (_, index) => 20 + (index % 60))
  return {
    host: 'nas',
    kind,
    name,
    minutes: { last: Math.floor(Date.now() / 60_000), values: values(1440) },
    hours: { last: Math.floor(Date.now() / HOUR), values: values(168) },
  }
}

async function open(section: string, size: { width: number; height: number }): Promise<Page> {
  const { page } = await pages.open(linkTo(hub), { ...size, touch: size.width < 800 })
  await messageBox(page).waitFor()
  await page.goto(`${hub.url}/#p=house/${section}`)
  await page.locator('.place-body h3').first().waitFor()
  return page
}

async function expectNoSidewaysScroll(page: Page, state: string): Promise<void> {
  const over = await page.evaluate<number[]>(
    `[document.documentElement, document.querySelector('.place-body')].map(one => one.scrollWidth - one.clientWidth)`,
  )
  expect(over, state).toEqual([0, 0])
}

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]
const tile = (page: Page, title: string) =>
  page.locator('.tile').filter({ has: page.getByRole('heading', { name: title }) })

test.each(SIZES)('the house at a glance, $width wide', async size => {
  const page = await open('glance', size)
  await tile(page, 'nas').getByText('47 °C').waitFor()
  await tile(page, 'nas').getByText('25 %').waitFor()
  await tile(page, 'attic').getByText('nothing listens at 127.0.0.1:9').waitFor()
  await tile(page, 'Downloads').getByText('Big.Buck.Bunny.2160p').waitFor()
  await tile(page, 'Playing').getByText('transcode').waitFor()
  await tile(page, 'Busy programs').waitFor()
  await tile(page, 'Bins').getByText('Paper on Friday').waitFor()
  expect(await tile(page, 'Coming').count(), 'neither Sonarr nor Radarr is set up').toBe(0)
  await tile(page, 'Alerts').getByText('Nothing is wrong.').waitFor()
  await expectNoSidewaysScroll(page, 'the house')
  await expectNoViolations(page, 'the house')
})

test('the house is read every 15 seconds while it is seen, and never when it is not', async () => {
  const { page } = await pages.open(linkTo(hub))
  await messageBox(page).waitFor()
  await page.clock.install()
  let readings = 0
  page.on('request', request => {
    if (request.postData()?.includes('hub_read_house')) readings++
  })
  const next = () =>
    page.waitForResponse(response => response.request().postData()?.includes('hub_read_house') ?? false)
  const first = next()
  await page.goto(`${hub.url}/#p=house`)
  await first
  await tile(page, 'Downloads').waitFor()
  expect(readings).toBe(1)
  const second = next()
  await page.clock.runFor(15_000)
  await second
  expect(readings).toBe(2)
  const show = (state: string) =>
    page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })`,
    )
  await show('hidden')
  await page.clock.runFor(10 * 60_000)
  expect(readings).toBe(2)
  await show('visible')
  const third = next()
  await page.clock.runFor(15_000)
  await third
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.clock.runFor(10 * 60_000)
  expect(readings).toBe(3)
})

test.each(SIZES)('charts over time, in words too, $width wide', async size => {
  const page = await open('charts', size)
  const figures = page.getByRole('region', { name: 'Figures of CPU and memory' })
  await figures.getByRole('row', { name: /^CPU/ }).getByText('79 %').first().waitFor()
  const drawn = () =>
    page.evaluate<boolean>(`(canvas => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      return data.some(byte => byte !== 0)
    })(document.querySelector('.chart-plot canvas'))`)
  expect(await drawn()).toBe(true)
  const own = page.getByRole('region', { name: 'Prometheus' })
  const power = own.getByRole('region', { name: 'Figures of Power of the house' })
  await power.getByRole('row', { name: 'attic 88 W 40 W 88 W' }).waitFor()
  await own.getByText('Nobody measures this: Prometheus has no values for it then.').waitFor()
  await expectNoSidewaysScroll(page, 'charts')
  await page.getByRole('button', { name: 'week' }).click()
  await page.getByRole('img', { name: 'Disks over the last week' }).waitFor()
  await page.getByRole('region', { name: 'attic' }).getByText('could not be reached').waitFor()
  await expectNoSidewaysScroll(page, 'charts of a week')
  await expectNoViolations(page, 'charts')
})

test.each(SIZES)('what happened and what comes, $width wide', async size => {
  const page = await open('activity', size)
  await page.getByRole('region', { name: 'What happened' }).getByText('door_bell').waitFor()
  await page.getByRole('region', { name: 'What comes' }).getByText('Water the').waitFor()
  await page.getByRole('region', { name: 'What fired' }).getByText('Feed the').waitFor()
  await page.getByRole('region', { name: 'Used by day' }).waitFor()
  await expectNoSidewaysScroll(page, 'activity')
  await expectNoViolations(page, 'activity')
})
