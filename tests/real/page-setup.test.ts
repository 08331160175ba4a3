import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  await model.getByRole('textbox', { name: 'Model' }).fill('qwen3')
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
