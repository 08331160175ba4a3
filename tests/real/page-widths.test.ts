import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClient } from '../support/clients.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { linkTo, messageBox } from './page/steps.ts'

/** A word without a place to break it. */
const LONG = 'W'.repeat(200)

const EVENT = `door.${'w'.repeat(90)}`

const pages = usePages()
let hub: TestHub
beforeAll(async () => {
  const agent = `---\ndescription: ${LONG}\nevents: ["${EVENT}"]\n---\nYou look after the house.\n`
  const broken = { command: `/nowhere/${LONG}` }
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, broken } }),
    agents: { homelab: agent, ['a'.repeat(60)]: agent },
  })
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  await client.call('hub_publish_event', { type: EVENT, payload: { [LONG]: LONG } })
  await client.call('hub_create_schedule', { delay: '2h', reason: LONG })
  await client.call('hub_create_schedule', { cron: '0 8 * * *', reason: `Look at ${LONG}` })
  await client.call('hub_chat', { message: LONG, agent: 'homelab' })
})
afterAll(() => hub[Symbol.asyncDispose]())

/** Returns what is wider than its box or cut by it, except boxes that scroll by themselves. */
const WIDE = `(() => {
  const panel = document.querySelector('.panel')
  const own = '.visually-hidden, .fold-text, .audit-told'
  const right = panel.getBoundingClientRect().right
  const all = [...panel.querySelectorAll('*')].filter(one => !one.closest(own))
  const beyond = all.filter(one => one.getBoundingClientRect().right > right + 1)
  const holders = [panel, panel.parentElement, document.documentElement]
  const scrolls = holders.filter(one => one.scrollWidth > one.clientWidth + 1)
  return [...beyond, ...scrolls].map(one => one.tagName + '.' + one.className)
})()`

test.each([320, 390, 820, 1440])(
  'every tab of the panel fits at %d pixels, with long names and words',
  async width => {
    const { page } = await pages.open(linkTo(hub), { width, height: 844, touch: width < 800 })
    await messageBox(page).waitFor()
    const panel = page.locator('.panel')
    if (!(await panel.isVisible()))
      await page.getByRole('button', { name: 'The hub: agents, schedules, servers' }).click()
    for (const name of ['Now', 'Threads', 'Events', 'Search', 'Audit']) {
      await panel.getByRole('tab', { name }).click()
      await panel.getByText('Reading…').waitFor({ state: 'detached' })
      if (name === 'Events') await panel.getByText(/^to .*aaaa/).waitFor()
      if (name === 'Events') await panel.getByText('What it said').first().click()
      if (name === 'Audit') await panel.getByText('What it says').first().click()
      if (name === 'Search') {
        await panel.getByRole('searchbox').fill(LONG)
        await page.keyboard.press('Enter')
      }
      expect(await page.evaluate<string[]>(WIDE), name).toEqual([])
      if (name === 'Threads') {
        await panel.locator('.card-link').first().click()
        await panel.getByRole('button', { name: /Back|All/ }).waitFor()
        expect(await page.evaluate<string[]>(WIDE), 'a thread').toEqual([])
      }
    }
  },
)

const PLACES = {
  house: ['At a glance', 'Charts', 'Activity'],
  settings: ['Agents', 'Servers', 'Rules', 'People and tokens', 'Notifications', 'Setup', 'Config in force'],
}

/** Returns by how many pixels the page and the place are wider than they may be. */
const PLACE_OVER = `[document.documentElement, document.querySelector('.place-body')].map(one => one.scrollWidth - one.clientWidth)`

test.each(Object.entries(PLACES))('every section of the %s fits each size', async (place, sections) => {
  const { page } = await pages.open(linkTo(hub), { width: 1440, height: 900 })
  await messageBox(page).waitFor()
  await page.goto(`${hub.url}/#p=${place}`)
  for (const section of sections) {
    const tab = page.locator('.place-sections').getByRole('button', { name: section, exact: true })
    await tab.click()
    await page.locator('.place-body h3').first().waitFor()
    await until('all parts are read', async () => (await page.getByText('Reading…').count()) === 0)
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: width < 800 ? 844 : 1180 })
      await expect
        .poll(() => page.evaluate(PLACE_OVER), { message: `${section} at ${width}` })
        .toEqual([0, 0])
    }
    await page.setViewportSize({ width: 820, height: 1180 })
    await expectNoViolations(page, section)
  }
})
