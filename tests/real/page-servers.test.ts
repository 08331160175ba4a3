import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npmServer } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { tabTo } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { linkTo, messageBox } from './page/steps.ts'

const pages = usePages()
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: '# The house\nservers: { metrics: false }\n' })
})
afterAll(() => hub[Symbol.asyncDispose]())

const open = async (size: { width: number; height: number; touch?: boolean }) => {
  const { page } = await pages.open(linkTo(hub), size)
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/servers`)
  await page.getByRole('region', { name: 'Add a server' }).waitFor()
  return page
}
/** Fails if the page is wider than the screen. */
const expectFits = async (page: Page) =>
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

/** Fails if a part is below what the screen shows. */
const expectInSight = (part: Locator) =>
  expect
    .poll(async () => {
      const { y = Infinity, height = 0 } = (await part.boundingBox()) ?? {}
      return y >= 0 && y + height <= (part.page().viewportSize()?.height ?? 0)
    })
    .toBe(true)

describe.each([
  ['1280', { width: 1280, height: 800 }],
  ['390', { width: 390, height: 844, touch: true }],
])('%s wide, by mouse', (name, size) => {
  test('a pasted server is added, tried, switched off and on, restarted, its log read, and removed', async () => {
    const page = await open(size)
    const server = `lamp${name}`
    const add = page.getByRole('region', { name: 'Add a server' })
    const pasted = JSON.stringify({
      mcpServers: { [server]: { ...npmServer('everything'), env: { API_KEY: 'hunter2-hunter2' } } },
    })
    await add.getByRole('textbox', { name: /another client's json/i }).fill(pasted)
    await add.getByRole('button', { name: 'Add the server' }).click()
    await add.getByText(`${server} is added and has`).waitFor()
    await expectInSight(add.getByText(`${server} is added and has`))
    await expectNoViolations(page, 'added')
    await add.getByRole('button', { name: `Open ${server}` }).click()

    const head = page.getByRole('region', { name: `Server ${server}` })
    await head.getByText('ready').waitFor()
    const tools = page.getByRole('region', { name: 'Tools' })
    await tools.getByRole('searchbox').fill('sum')
    await tools.getByRole('button', { name: `Try it: ${server}__get-sum` }).click()
    const form = tools.getByRole('form', { name: `Try ${server}__get-sum` })
    await form.getByRole('textbox', { name: /^a/ }).fill('x')
    await form.getByRole('button', { name: 'Call it' }).click()
    await form.getByText('This is no number.').waitFor()
    await expectNoViolations(page, 'a form with an error')
    await form.getByRole('textbox', { name: /^a/ }).fill('2')
    await form.getByRole('textbox', { name: /^b/ }).fill('3')
    await form.getByRole('button', { name: 'Call it' }).click()
    await form
      .getByRole('region', { name: `Answer of ${server}__get-sum`, exact: true })
      .getByText('is 5')
      .waitFor()
    await expectInSight(form.getByText('It answers:'))
    await expectNoViolations(page, 'an answer')
    await expectFits(page)

    const mode = tools.getByRole('combobox', { name: `Who may use ${server}__get-sum` })
    await mode.selectOption('run')
    await tools.getByText('without your yes').waitFor()
    await expect
      .poll(() => readFileSync(hub.configFile, 'utf8'))
      .toContain(`{ "tools": ["${server}__get-sum"], "power": "person" }`)
    await mode.selectOption('ask')
    await expect.poll(() => readFileSync(hub.configFile, 'utf8')).toContain(`${server}__get-sum`)
    expect(readFileSync(hub.configFile, 'utf8')).toContain('# The house')
    await mode.selectOption('off')
    await form.waitFor({ state: 'detached' })
    await mode.selectOption('on')

    await page.getByRole('region', { name: 'Lines of the log' }).getByText('hub: connected').waitFor()
    const entry = page.getByRole('region', { name: 'Entry, without its secrets' })
    await entry.getByText('API_KEY').waitFor()
    expect(await page.content()).not.toContain('hunter2')

    await head.getByRole('button', { name: `Switch off ${server}` }).click()
    await head.getByText('disabled').waitFor()
    await head.getByRole('button', { name: `Switch on ${server}` }).click()
    await head.getByRole('button', { name: `Restart ${server}` }).click()
    await head.getByText('ready').waitFor()
    await expectNoViolations(page, 'one server')
    await head.getByRole('button', { name: `Remove ${server}` }).click()
    await head.getByRole('button', { name: 'Remove', exact: true }).click()
    await page
      .getByRole('region', { name: 'Servers and their tools' })
      .getByText(server)
      .waitFor({ state: 'detached' })
    expect(readFileSync(join(hub.dataFolder, `servers/.removed-${server}/mcp.json`), 'utf8')).toContain(
      'hunter2',
    )
    await expectNoViolations(page, 'a removed server')
    await expectFits(page)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Open ${server}` }).click()
    await head.getByText('ready').waitFor()
  })
})

test.each([1280, 390])(
  '%i wide, by keyboard, a server that does not start is added and taken away',
  async width => {
    const page = await open({ width, height: 844 })
    await tabTo(page, /^Another client's JSON/)
    await page.keyboard.insertText(`${process.execPath} -e 'console.error("no lamp here"); process.exit(3)'`)
    await tabTo(page, /^Name \(its own/)
    await page.keyboard.insertText(`broken${width}`)
    await page.keyboard.press('Enter')
    await page.getByText('it does not run: ').waitFor()
    await expectFits(page)
    await tabTo(page, `Take broken${width} away again`)
    await page.keyboard.press('Enter')
    await tabTo(page, 'Remove', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByText(`broken${width}`).first().waitFor({ state: 'detached' })
  },
)

test('a known program is added with its settings, and the panel leads here', async () => {
  const { page } = await pages.open(linkTo(hub))
  await page.getByRole('link', { name: 'Settings of servers' }).click()
  const add = page.getByRole('region', { name: 'Add a server' })
  await add.getByRole('combobox', { name: 'What' }).selectOption('filesystem')
  await add.getByRole('textbox', { name: /^Folder/ }).waitFor()
  await expectNoViolations(page, 'a preset')
  await add.getByRole('combobox', { name: 'What' }).selectOption('home-assistant')
  await add.getByRole('textbox', { name: /^Address/ }).fill('http://127.0.0.1:1')
  await add.getByLabel(/^Long-lived/).fill('a-secret-of-the-house')
  await add.getByRole('button', { name: 'Add Home Assistant' }).click()
  await add.getByText('home-assistant is kept, but it does not run: ').waitFor()
  const text = readFileSync(join(hub.dataFolder, 'servers/home-assistant/mcp.json'), 'utf8')
  expect(JSON.parse(text)).toEqual({
    url: 'http://127.0.0.1:1/api/mcp',
    headers: { Authorization: 'Bearer a-secret-of-the-house' },
  })
})
