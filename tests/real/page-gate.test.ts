import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { AGENT, invite, make } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { usePages } from './page/pages.ts'
import { connected, linkTo } from './page/steps.ts'

/** Matches what Chromium itself logs when a hub refuses a request. */
const REFUSED = /^error: (WebSocket connection to '\S+' failed|Failed to load resource: .* status of 401)/

const pages = usePages()
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub()
})
afterAll(() => hub[Symbol.asyncDispose]())

const STORED = "localStorage.getItem('superbloom.session')"

test('a wrong token is named as the reason and forgotten, and the right one opens', async () => {
  const { page } = await pages.open(linkTo({ url: hub.url, token: 'not-the-one' }), { mayLog: REFUSED })
  const alert = page.getByRole('alert')
  await alert.getByText('The hub does not know this token.').waitFor()
  expect(page.url()).not.toContain('not-the-one')
  expect(await page.evaluate(STORED)).toBe(null)

  const token = page.getByLabel('Token')
  expect(await token.getAttribute('aria-invalid')).toBe('true')
  await token.fill('two words')
  await page.getByRole('button', { name: 'Open' }).click()
  await alert.getByText('something else got in while copying').waitFor()

  await token.fill(` ${hub.token} `)
  await page.getByRole('button', { name: 'Open' }).click()
  await connected(page).waitFor()
  const session = await page.evaluate<string>(STORED)
  expect(session).toMatch(/^sb_/)
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(hub.token)
})

test('without a token the page asks for it, and forgets it when told to', async () => {
  const { page } = await pages.open(hub.url)
  await page.getByText('It opens with its token.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.getByLabel('Token').fill(hub.token)
  await page.getByLabel('Token').press('Enter')
  await connected(page).waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await page.evaluate(STORED)).toBe(null)
  await page.reload()
  await page.getByLabel('Token').waitFor()
})

test('a link signs in once; who opens it again stays signed in, and a revoked session is back at the gate', async () => {
  const link = linkTo({ url: hub.url, token: await invite(hub, 'anna', 'member') })
  const member = await make(hub, 'hub_create_token', { name: 'annas-terminal', role: 'member' })
  const { page } = await pages.open(link, { mayLog: REFUSED })
  const nothingShared = page.getByText('No agent is shared with you yet.')
  await nothingShared.waitFor()
  await page.goto(link)
  await page.reload()
  await nothingShared.waitFor()
  hub.writeAgent('homelab', AGENT(true))
  await until('the file is read', async () => {
    using chat = await openChat({ url: hub.url, token: member })
    return (await chat.next('welcome')).agents.length > 0
  })
  await page.reload()
  await connected(page).waitFor()
  await make(hub, 'hub_remove_person', { name: 'anna' })
  await page.getByText('The hub does not know this token.').waitFor()
})

test('a link of another person asks before it takes the place of a session', async () => {
  const { page } = await pages.open(linkTo({ url: hub.url, token: hub.token }), { mayLog: REFUSED })
  await connected(page).waitFor()
  const session = await page.evaluate<string>(STORED)
  await page.goto(linkTo({ url: hub.url, token: await invite(hub, 'ben', 'member') }))
  await page.getByText('This link signs in as ben.').waitFor()
  await page.getByRole('button', { name: /^Stay/ }).click()
  await connected(page).waitFor()
  expect(await page.evaluate<string>(STORED)).toBe(session)
  const other = await page.context().newPage()
  await other.goto(linkTo({ url: hub.url, token: hub.token }))
  await connected(other).waitFor()
  expect(await other.evaluate<string>(STORED)).not.toBe(session)
  await connected(page).waitFor()
  expect(await page.evaluate<string>(STORED)).toBe(await other.evaluate<string>(STORED))
})
