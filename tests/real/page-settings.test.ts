import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { linkTo, messageBox } from './page/steps.ts'

const pages = usePages()
let hub: TestHub
/** A hub that phones reach. It outlives its pages, which would log that it is gone. */
let reachable: TestHub
beforeAll(async () => {
  reachable = await startTestHub({ variables: { SUPERBLOOM_PUBLIC_URL: 'http://192.168.1.20:8420' } })
  hub = await startTestHub({
    config: 'servers: { metrics: false }\n',
    agents: { homelab: '---\ndescription: Talks with the house\n---\nYou are kind.\n' },
  })
})
afterAll(() => Promise.all([hub[Symbol.asyncDispose](), reachable[Symbol.asyncDispose]()]))

test('the owner lets a person in and locks them out again, without a shell', async () => {
  const { page } = await pages.open(linkTo(hub))
  await page.getByRole('button', { name: 'Settings' }).click()
  expect(page.url()).toContain('#p=settings')
  await page.getByRole('button', { name: 'People and tokens' }).click()
  const people = page.getByRole('region', { name: 'People', exact: true })
  await people.getByText('Nobody besides you').waitFor()
  await people.getByRole('textbox', { name: 'Name' }).fill('anna')
  await people.getByRole('button', { name: 'Add a person' }).click()
  const link = await people.getByRole('status').locator('code').textContent()
  await people.getByText('anna can talk with no agent yet').waitFor()
  await people.getByText("works on the hub's own machine alone").waitFor()
  await page.getByText('this browser, which you use now').waitFor()
  await page.getByRole('checkbox', { name: 'homelab' }).check()
  await people.getByText('anna will see homelab, in conversations of anna alone').waitFor()
  await expectNoViolations(page, 'people')

  const { page: hers } = await pages.open(link ?? '', { mayLog: /401|WebSocket/ })
  await messageBox(hers).waitFor()
  expect(await hers.getByRole('button', { name: 'Settings' }).count()).toBe(0)
  await hers.goto(`${hers.url().split('#')[0]}#p=settings`)
  await messageBox(hers).waitFor()

  await page.reload()
  await people.getByRole('button', { name: 'Lock out anna' }).click()
  await people.getByRole('button', { name: 'Lock out', exact: true }).click()
  await people.getByText('Nobody besides you').waitFor()
  await hers.getByRole('textbox', { name: 'Token' }).waitFor()

  // The chat is behind the section and the settings.
  await page.goBack()
  await page.getByRole('region', { name: '1. A model that thinks' }).waitFor()
  await page.goBack()
  await messageBox(page).waitFor()
})

test('a token is made, shown once and revoked', async () => {
  const { page } = await pages.open(linkTo(hub))
  // The page takes the token out of its address before another one replaces that.
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/people`)
  const tokens = page.getByRole('region', { name: 'Tokens and sign-ins' })
  await tokens.getByRole('textbox', { name: 'Name' }).fill('grafana')
  await tokens.getByLabel('For').selectOption('metrics')
  await tokens.getByRole('button', { name: 'Make a token' }).click()
  const token = (await tokens.getByRole('status').locator('code').textContent()) ?? ''
  const read = () => fetch(`${hub.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
  expect((await read()).status).toBe(200)
  await tokens.getByRole('button', { name: 'Revoke grafana, token' }).click()
  await tokens.getByRole('button', { name: 'Revoke', exact: true }).click()
  await tokens.getByText('grafana').waitFor({ state: 'detached' })
  expect((await read()).status).toBe(401)
})

test('on a phone the chosen section is in sight', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/config`)
  const chosen = page.getByRole('navigation', { name: 'Settings: sections' }).locator('[aria-current]')
  await chosen.getByText('Config in force').waitFor()
  const box = await chosen.boundingBox()
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
})

test('on your phone: what is missing is said, and a code signs a phone in', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/phone`)
  await page.getByText('The hub listens on its own machine alone').waitFor()
  await page.getByText('First the hub needs an address').waitFor()
  await expectNoViolations(page, 'a hub that no phone reaches')

  const { page: reached } = await pages.open(linkTo(reachable), { width: 390, height: 844, touch: true })
  await messageBox(reached).waitFor()
  await reached.goto(`${reached.url().split('#')[0]}#p=settings/phone`)
  await reached.getByText('http://192.168.1.20:8420', { exact: true }).waitFor()
  await reached.getByText('The hub has no https address yet').waitFor()
  await reached.getByRole('button', { name: 'Show a code' }).click()
  await reached.getByRole('img', { name: "The code for your phone's camera" }).waitFor()
  const link = (await reached.getByRole('status').locator('code').textContent()) ?? ''
  await expectNoViolations(reached, 'the code of a phone')
  expect(await reached.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  const { page: phone } = await pages.open(link.replace('http://192.168.1.20:8420', reachable.url))
  await messageBox(phone).waitFor()
})
