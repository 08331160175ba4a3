import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startNtfy } from '../../hub/demo/ntfy.ts'
import { SABNZBD_KEY, startSabnzbd } from '../../hub/demo/sabnzbd.ts'
import { startFakeDocker } from '../../servers/kit/testing/fake-docker.ts'
import { startRadarr } from '../lab/radarr.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { serveTrialProvider } from '../support/trial-provider.ts'
import { expectNoViolations } from './page/axe.ts'
import { readFocus, tabTo } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { answers, linkTo, messageBox, say } from './page/steps.ts'

const pages = usePages()
let hub: TestHub
let provider: Awaited<ReturnType<typeof serveTrialProvider>>
let takesTools = true
beforeAll(async () => {
  provider = await serveTrialProvider(() => takesTools)
  hub = await startTestHub()
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

test('from nothing to an answer: the first page leads to the setup, where a model is tried and kept', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await page.getByRole('link', { name: 'Set up: a model' }).click()
  const model = page.getByRole('region', { name: '1. A model that thinks' })
  await model.getByText('None yet').waitFor()
  await model.getByRole('button', { name: 'Look on this machine' }).click()
  await model
    .getByRole('listitem')
    .or(model.getByText('Nothing answers at the usual ports'))
    .first()
    .waitFor()
  await expectNoViolations(page, 'the setup on a phone')

  await model.getByLabel('Provider').selectOption('compatible')
  await model.getByLabel('Address').fill(provider.url)
  await model.getByLabel('Key').fill('sk-of-the-house')
  await model.getByRole('combobox', { name: 'Model', exact: true }).fill('qwen3')
  await model.locator('option[value=qwen3]').waitFor({ state: 'attached' })
  expect(await model.getByLabel('Key').getAttribute('placeholder')).toBe('may stay empty')
  takesTools = false
  await model.getByRole('button', { name: 'Try it', exact: true }).click()
  await model.getByText('agents cannot use it like this').waitFor()
  await expectNoViolations(page, 'a model that cannot be used')
  takesTools = true
  await model.getByRole('button', { name: 'Try it', exact: true }).click()
  await model.getByText('agents can use it').waitFor()
  await expectNoViolations(page, 'a model that was tried')
  await model.getByRole('button', { name: 'Use it', exact: true }).click()
  await model.getByText('It is the default model now').waitFor()
  await model.getByText('qwen3 answers now').waitFor()
  expect(readFileSync(hub.configFile, 'utf8')).toContain('qwen3')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  await page.getByRole('button', { name: 'Back to the chat' }).click()
  await messageBox(page).waitFor()
  await say(page, 'hi')
  await answers(page).filter({ hasText: 'Hello from qwen3.' }).waitFor()
  expect(await page.getByRole('link', { name: 'Set up: a model' }).count()).toBe(0)
})

test('without a mouse: what to paste into a client', async () => {
  const { page } = await pages.open(linkTo(hub))
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/setup`)
  const clients = page.getByRole('region', { name: '4. Claude and other clients' })
  await clients.getByText('mcpServers').waitFor()
  await tabTo(page, /^Client/)
  await page.keyboard.press('ArrowDown')
  await clients.getByText('claude mcp add superbloom').waitFor()
  await tabTo(page, 'What to paste into Claude Code')
  await tabTo(page, 'Copy it')
  expect((await readFocus(page)).isSeen).toBe(true)
  await expectNoViolations(page, 'the setup')
})

const read = () => readFileSync(hub.configFile, 'utf8')
const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
async function openSettings(section: string, size = { width: 390, height: 844, touch: true }) {
  const { page } = await pages.open(linkTo(hub), size)
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/${section}`)
  return page
}

test('a program of this machine is found, tried with a wrong and the right key, and connected', async () => {
  // Its usual port, at which the hub looks.
  await using radarr = await startRadarr({ port: 7878 })
  const page = await openSettings('setup')
  const programs = page.getByRole('region', { name: '2. Programs of the house' })
  await programs.getByRole('button', { name: 'Look on this machine' }).click()
  await programs.getByRole('button', { name: `Set up Radarr at ${radarr.url}` }).click()
  await expectNoViolations(page, 'programs that were found')
  const form = programs.getByRole('form', { name: 'Connect Radarr' })
  await form.getByLabel('API key').fill('not-the-key-of-radarr')
  await form.getByRole('button', { name: 'Try it' }).click()
  await programs.getByText('it cannot be connected like this').waitFor()
  await expectNoViolations(page, 'a program with a wrong key')
  expect(read()).not.toContain('RADARR')
  await form.getByLabel('API key').fill(radarr.apiKey)
  await form.getByRole('button', { name: 'Try it' }).click()
  await programs.getByRole('button', { name: 'Connect it', exact: true }).click()
  await programs.getByText('The server media runs with it').waitFor()
  await programs.getByText('Connected: media.').waitFor()
  await expectNoViolations(page, 'a program that is connected')
  expect(read()).toContain(radarr.apiKey)
  expect(await fits(page)).toBe(true)
})

test('game servers: Docker is found where its socket answers, and connected without any setting', async () => {
  await using docker = await startFakeDocker()
  vi.stubEnv('DOCKER_HOST', docker.url)
  const page = await openSettings('setup')
  const programs = page.getByRole('region', { name: '2. Programs of the house' })
  await programs.getByRole('button', { name: 'Look on this machine' }).click()
  await programs.getByRole('button', { name: 'Set up Docker' }).click()
  await programs.getByRole('form').getByRole('button', { name: 'Try it' }).click()
  await programs.getByRole('button', { name: 'Connect it', exact: true }).click()
  await programs.getByText('The server games runs with it').waitFor()
  await programs.getByText('Connected.', { exact: true }).waitFor()
  vi.unstubAllEnvs()
})

test('where to be told: ntfy is set, a test message arrives, and a failure is said in words', async () => {
  const ntfy = await startNtfy()
  const page = await openSettings('notifications')
  const told = page.getByRole('region', { name: 'Where to be told' })
  await told.getByText('You are told nowhere yet').waitFor()
  await told.getByRole('combobox').selectOption('ntfy')
  await told.getByLabel('Address with topic').fill(`${ntfy.url}/the-house`)
  await told.getByLabel('failures').uncheck()
  await told.getByText('is told up to a minute after you leave it').waitFor()
  expect(await told.getByText('No buttons yet').count()).toBe(0)
  await told.getByLabel('Only I see these messages').check()
  await told.getByText('No buttons yet: they need an address of the hub that your phone reaches').waitFor()
  await expectNoViolations(page, 'where to be told')
  await told.getByRole('button', { name: 'Save and send a test' }).click()
  await told.getByText('It is set. Sent on ntfy').waitFor()
  await told.getByText('You are told through ntfy: approvals that wait, reminders and reports.').waitFor()
  expect(ntfy.published).toMatchObject([{ topic: 'the-house', title: 'Superbloom' }])
  expect(await fits(page)).toBe(true)
  await ntfy[Symbol.asyncDispose]()
  await told.getByRole('combobox').selectOption({ label: 'ntfy, as it is set' })
  await told.getByRole('button', { name: 'Save and send a test' }).click()
  await told.getByText('It is set, but the test message has not arrived.').waitFor()
  await expectNoViolations(page, 'a channel that cannot be reached')
})

test('without a mouse: a program on another machine is connected under Servers', async () => {
  await using sabnzbd = await startSabnzbd({})
  const page = await openSettings('servers', { width: 1440, height: 900, touch: false })
  const programs = page.getByRole('region', { name: 'Connect a program' })
  await programs.getByRole('option', { name: 'SABnzbd' }).waitFor({ state: 'attached' })
  await tabTo(page, /^A program, also on another machine/)
  await page.keyboard.type('SAB')
  await tabTo(page, /^Address/)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(sabnzbd.url)
  await tabTo(page, /^API key/)
  await page.keyboard.type(SABNZBD_KEY)
  await page.keyboard.press('Enter')
  await programs.getByText('it can be connected').waitFor()
  await tabTo(page, 'Connect it')
  await page.keyboard.press('Enter')
  await programs.getByText('The server downloads runs with it').waitFor()
  await expectNoViolations(page, 'servers with a program')
})
