import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { tabTo } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { linkTo } from './page/steps.ts'

const HOMELAB = `---
description: Looks after the homelab
events: [webhook.post]
schedules: [{ cron: "0 8 * * *", timezone: Europe/Berlin, reason: Morning report }]
---
You are kind.
`
const pages = usePages()
const model = createScriptedModel([])
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: 'servers: { metrics: false }\n', overrides: { model } })
})
beforeEach(() => hub.writeAgent('homelab', HOMELAB))
afterAll(() => hub[Symbol.asyncDispose]())

const fileOf = (agent: string) => join(hub.agentsFolder, `${agent}.md`)
const textOf = (agent: string) => readFileSync(fileOf(agent), 'utf8')
const file = (page: Page) => page.locator('textarea.code')
const saved = (page: Page) => page.getByText('Saved, and in force.')

async function openAgents(options = {}): Promise<Page> {
  const { page } = await pages.open(linkTo(hub), options)
  await page
    .getByRole('button', { name: 'Conversations', exact: true })
    .or(page.getByRole('button', { name: 'Settings' }))
    .first()
    .waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/agents`)
  await page.getByRole('button', { name: 'Open homelab' }).waitFor()
  return page
}

test('an agent is edited: wrong lines are named, and a right text is in force', async () => {
  const page = await openAgents()
  await page.getByRole('button', { name: 'Open homelab' }).click()
  await page.getByText('Morning report').first().waitFor()
  await file(page).fill(HOMELAB.replace('events: [webhook.post]', 'events: 3'))
  await page.getByRole('button', { name: 'Line 3' }).click()
  expect(await page.evaluate('getSelection().toString()')).toBe('events: 3')
  const save = page.getByRole('button', { name: 'Save', exact: true })
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  await save.click({ force: true })
  expect(textOf('homelab')).toBe(HOMELAB)
  await expectNoViolations(page, 'a wrong agent file')

  await file(page).fill(HOMELAB.replace('You are kind.', 'You are very kind.'))
  await page.locator('.meaning').waitFor()
  await save.click()
  await saved(page).waitFor()
  expect(textOf('homelab')).toContain('You are very kind.')
  await expectNoViolations(page, 'an agent')
})

test('a change on the disk is shown as a difference, and neither side is lost by itself', async () => {
  const page = await openAgents()
  await page.getByRole('button', { name: 'Open homelab' }).click()
  await page.locator('.meaning').waitFor()
  const mine = HOMELAB.replace('kind', 'mine')
  await file(page).fill(mine)
  await page.locator('.meaning').waitFor()
  hub.writeAgent('homelab', HOMELAB.replace('Looks', 'Watches'))
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await save.click()
  const difference = page.getByRole('region', { name: 'The difference' })
  await difference.waitFor()
  expect(await difference.locator('.line-removed').allTextContents()).toEqual([
    '- description: Watches after the homelab\n',
    '- You are kind.\n',
  ])
  await expectNoViolations(page, 'a file that changed meanwhile')
  expect(textOf('homelab')).toContain('Watches')
  await page.getByRole('button', { name: 'Go on with mine' }).click()
  await save.click()
  await saved(page).waitFor()
  expect(textOf('homelab')).toBe(mine)
})

test('an agent is begun from a template on a phone, retired and brought back', async () => {
  const page = await openAgents({ width: 390, height: 844, touch: true })
  await page.getByRole('textbox', { name: 'Name of a new agent' }).fill('baker')
  await page.getByRole('button', { name: 'New agent' }).click()
  await page.locator('.meaning').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await saved(page).waitFor()
  expect(textOf('baker')).toContain('What it is for')
  await expectNoViolations(page, 'a new agent on a phone')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  await page.getByRole('button', { name: 'Retire baker' }).click()
  await page.getByRole('button', { name: 'Retire it' }).click()
  await page.getByText('It is retired').waitFor()
  expect(existsSync(fileOf('baker'))).toBe(false)
  await page.getByRole('button', { name: 'Bring it back' }).click()
  await file(page).waitFor()
  expect(textOf('baker')).toContain('What it is for')
  await page.getByRole('button', { name: 'All agents' }).click()
  await page.getByRole('button', { name: 'Open baker' }).waitFor()
})

test('without a mouse: a fact from outside is accepted, changed and forgotten', async () => {
  model.script(call([['store_context', { key: 'tea', value: 'green' }]]), say('Noted.'))
  await fetch(`${hub.url}/hooks/post`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${hub.token}` },
    body: '{}',
  })
  const page = await openAgents()
  const { keyboard } = page
  await tabTo(page, 'Open homelab')
  await keyboard.press('Enter')
  const facts = page.getByRole('region', { name: 'What it remembers' })
  await facts.getByText('A text from outside led to this').waitFor()
  await expectNoViolations(page, 'what an agent remembers')
  await tabTo(page, 'Accept tea')
  await keyboard.press('Enter')
  await facts.getByText('A text from outside led to this').waitFor({ state: 'detached' })
  await tabTo(page, 'Change tea')
  await keyboard.press('Enter')
  await tabTo(page, /^Fact/)
  await keyboard.press('Control+A')
  await keyboard.type('black')
  await tabTo(page, 'Store')
  await keyboard.press('Enter')
  await facts.getByText('black').waitFor()
  await tabTo(page, 'Forget tea')
  await keyboard.press('Enter')
  await tabTo(page, 'Forget it', 'Shift+Tab')
  await keyboard.press('Enter')
  await facts.getByText('Nothing yet').waitFor()
})
