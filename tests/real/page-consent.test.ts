import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OAuthRequests } from '../support/oauth-requests.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { connected, linkTo } from './page/steps.ts'

/** Matches what Chromium itself logs of a page that answers 401. */
const REFUSED = /^error: Failed to load resource: .* status of 401/

const pages = usePages()
let hub: TestHub
let oauth: OAuthRequests
const program = createServer((_request, response) => void response.end('The program goes on.'))
beforeAll(async () => {
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false }, authorization: { issuer: 'own' } }),
  })
  await new Promise<void>(resolve => program.listen(0, '127.0.0.1', resolve))
  oauth = new OAuthRequests(hub)
  oauth.client = await oauth.register()
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  program.closeAllConnections()
  await new Promise(resolve => program.close(resolve))
})

const callback = () => `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`

/** Resolves with the code that the program's own address is opened with. */
async function answered(): Promise<string | null> {
  const [{ url }] = (await within('the browser comes back', once(program, 'request'))) as [{ url: string }]
  return new URL(url, 'http://program').searchParams.get('code')
}

test('a person says yes with the token, after a wrong one, and the browser goes back to the program', async () => {
  const { page } = await pages.open(oauth.authorize({ redirect_uri: callback() }), { mayLog: REFUSED })
  await page.getByText('Mallory', { exact: true }).waitFor()
  await page.getByLabel('token').fill('not-the-one')
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('alert').getByText('does not take this token').waitFor()
  await expectNoViolations(page, 'a wrong token of who is asked by a program')
  await page.getByLabel('token').fill(hub.token)
  const answer = answered()
  await page.getByRole('button', { name: 'Allow' }).click()
  expect(await answer).toMatch(/^\S{20}/)
})

test('whoever is signed in on the chat page only says yes', async () => {
  const { page } = await pages.open(linkTo(hub))
  await connected(page).waitFor()
  await page.goto(oauth.authorize({ redirect_uri: callback() }))
  await page.getByText('Mallory', { exact: true }).waitFor()
  await page.getByLabel('token').waitFor({ state: 'hidden' })
  const answer = answered()
  await page.getByRole('button', { name: 'Allow' }).click()
  expect(await answer).toMatch(/^\S{20}/)
})

test('a browser at a name that the hub does not know reads what to set, on a phone', async () => {
  const address = hub.url.replace('127.0.0.1', 'nas.localhost')
  const { page } = await pages.open(address, { width: 390, height: 844, mayLog: /status of 403/ })
  await page.getByRole('heading', { name: 'The hub does not know this address' }).waitFor()
  await page.getByText('hosts: ["nas.localhost"]').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectNoViolations(page, 'a foreign name')
})
