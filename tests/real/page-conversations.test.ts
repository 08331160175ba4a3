import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendMessage } from '../../hub/store/conversations.ts'
import { openStore } from '../../hub/store/open.ts'
import { TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { answers, connected, linkTo, messageBox, say } from './page/steps.ts'

const pages = usePages()
let hub: TestHub
beforeAll(async () => {
  hub = new TestHub({ config: '' })
  await writeLongAgo(hub.dataFolder)
  await hub.start()
})
afterAll(() => hub[Symbol.asyncDispose]())

const KEY = 'The key of the cellar is 藍色的鑰匙 🗝️'

/** Writes a conversation that is far longer than what the page loads. */
async function writeLongAgo(folder: string): Promise<void> {
  await using store = await openStore(folder)
  await store.write(async tx => {
    for (let seq = 1; seq <= 1_500; seq++) {
      const said = seq === 40 ? KEY : `Note ${seq}`
      const message = { id: `old_${seq}`, conversation: 'homelab/long-ago', author: 'alex', at: seq * 60_000 }
      await appendMessage(tx, { ...message, kind: seq % 2 ? 'user' : 'agent', text: said })
    }
  })
}

const ARABIC = 'كم حرارة الخادم الآن؟'
const CHINESE = '家里的服务器 🌡️ 热吗？'
const LONG =
  'Why does the download of the television series stop every night at about four o’clock, and who stops it?'

const list = (page: Page) => page.getByRole('navigation', { name: 'Conversations' })
const titles = (page: Page) => list(page).locator('.conversation-name').allTextContents()
const untilTitles = (page: Page, expected: string[]) =>
  expect.poll(() => titles(page), { timeout: 20_000 }).toEqual(expected)

/** Begins a conversation with a first message, and waits for its answer. */
async function begin(page: Page, text: string): Promise<void> {
  await list(page).getByRole('button', { name: 'New conversation with homelab' }).click()
  await page.getByRole('heading', { name: 'New conversation' }).waitFor()
  await say(page, text)
  await answers(page).first().waitFor()
}

async function openActs(where: Locator, title: string): Promise<void> {
  await where.getByRole('button', { name: `Rename, pin or delete: ${title}` }).click()
}

async function rename(where: Locator, title: string, next: string): Promise<void> {
  await openActs(where, title)
  await where.getByRole('button', { name: 'Rename', exact: true }).click()
  await where.getByLabel('Title of the conversation').fill(next)
  await where.getByRole('button', { name: 'Save the title' }).click()
}

test('two browsers show the same titles, pins and order, in any script, the newest first', async () => {
  const one = await pages.open(linkTo(hub))
  const other = await pages.open(linkTo(hub))
  for (const { page } of [one, other]) await connected(page).waitFor()
  const cut = 'Why does the download of the television series stop every…'
  await begin(one.page, ARABIC)
  await begin(one.page, CHINESE)
  await begin(one.page, LONG)
  for (const { page } of [one, other]) await untilTitles(page, [cut, CHINESE, ARABIC, 'long ago', 'main'])
  await expect.poll(() => one.page.title()).toBe(`${cut} · Superbloom`)

  // What was answered while nobody looked at it is unread, until it is opened.
  const arabic = list(other.page).getByRole('button', { name: /^كم حرارة.*, new messages$/ })
  await arabic.click()
  await answers(other.page).first().waitFor()
  await arabic.waitFor({ state: 'detached' })

  await rename(list(other.page), cut, 'الأقراص والنسخ 📀')
  for (const { page } of [one, other])
    await untilTitles(page, ['الأقراص والنسخ 📀', CHINESE, ARABIC, 'long ago', 'main'])
  await openActs(list(one.page), ARABIC)
  await list(one.page).getByRole('button', { name: 'Pin', exact: true }).click()
  for (const { page } of [one, other])
    await untilTitles(page, [ARABIC, 'الأقراص والنسخ 📀', CHINESE, 'long ago', 'main'])

  // A message moves its conversation up, below what is pinned.
  await list(other.page).getByRole('button', { name: /^家里/ }).click()
  await say(other.page, 'And now?')
  for (const { page } of [one, other])
    await untilTitles(page, [ARABIC, CHINESE, 'الأقراص والنسخ 📀', 'long ago', 'main'])
  await one.page.reload()
  await untilTitles(one.page, [ARABIC, CHINESE, 'الأقراص والنسخ 📀', 'long ago', 'main'])

  // An empty title gives the first name back: that of a slug.
  await rename(list(one.page), 'الأقراص والنسخ 📀', '')
  await untilTitles(other.page, [ARABIC, CHINESE, 'New conversation', 'long ago', 'main'])
})

test('a deletion waits for an undo, and is sent once there is none', async () => {
  const { page } = await pages.open(linkTo(hub))
  const second = await pages.open(linkTo(hub))
  await connected(page).waitFor()
  await page.clock.install()
  await begin(page, 'Old things')
  await expect.poll(() => titles(second.page)).toContain('Old things')
  const remove = async () => {
    await openActs(list(page), 'Old things')
    await list(page).getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted: Old things').waitFor()
    expect(await titles(page)).not.toContain('Old things')
  }
  await remove()
  expect(await titles(second.page)).toContain('Old things')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => titles(page)).toContain('Old things')
  await page.clock.fastForward(90_000)
  expect(await titles(second.page)).toContain('Old things')

  await remove()
  await page.clock.fastForward(90_000)
  await page.getByText('Deleted: Old things').waitFor({ state: 'detached' })
  await expect.poll(() => titles(second.page), { timeout: 20_000 }).not.toContain('Old things')
  expect(await titles(page)).not.toContain('Old things')

  // A page that closes sends it at once.
  await begin(page, 'Secret things')
  await expect.poll(() => titles(second.page)).toContain('Secret things')
  await openActs(list(page), 'Secret things')
  await list(page).getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Deleted: Secret things').waitFor()
  await page.close({ runBeforeUnload: false })
  await until('the other browser lost it', async () => !(await titles(second.page)).includes('Secret things'))
})

test.each([
  { width: 390, height: 844, touch: true },
  { width: 1280, height: 800 },
])('the list is accessible at $width × $height', async size => {
  const { page } = await pages.open(linkTo(hub), size)
  await messageBox(page).waitFor()
  const isPhone = size.width === 390
  const show = async () => {
    if (isPhone) await page.getByRole('button', { name: /^Conversations/ }).click()
  }
  await show()
  await list(page).getByRole('button', { name: 'New conversation with homelab' }).click()
  await say(page, `${size.width} ${LONG}`)
  await answers(page).first().waitFor()
  await show()
  const title = `${size.width} Why does the download of the television series stop…`
  await openActs(list(page), title)
  await expectNoViolations(page, 'what can be done with a conversation')
  await list(page).getByRole('button', { name: 'Rename', exact: true }).click()
  await expectNoViolations(page, 'a conversation is renamed')
  await list(page).getByRole('button', { name: 'Cancel' }).click()
  await openActs(list(page), title)
  await list(page).getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await expectNoViolations(page, 'a deletion can be undone')
  const isWide = 'document.documentElement.scrollWidth > innerWidth'
  expect(await page.evaluate(isWide)).toBe(false)
  await page.getByRole('button', { name: 'Undo' }).click()
})

test.each([
  { width: 390, height: 844, touch: true },
  { width: 1280, height: 800 },
])('a search leads to a message that is not loaded, at $width × $height', async size => {
  const { page } = await pages.open(linkTo(hub), size)
  await messageBox(page).waitFor()
  if (size.width === 390) await page.getByRole('button', { name: /^Conversations/ }).click()
  const field = list(page).getByRole('searchbox', { name: 'Find conversations and messages' })
  await field.fill('long AGO')
  await untilTitles(page, ['long ago'])
  await field.fill('鑰匙')
  const found = list(page).getByRole('button', { name: /The key of the cellar/ })
  await found.waitFor()
  expect(await titles(page)).toEqual([])
  await expectNoViolations(page, 'a search')
  await found.press('Enter')
  await page.getByRole('heading', { name: 'long ago' }).waitFor()
  const sought = page.locator('.row:focus').getByText(KEY)
  await sought.waitFor()
  const box = await sought.boundingBox()
  expect(box?.y).toBeGreaterThan(60)
  expect(box?.y).toBeLessThan(size.height - 120)

  // From there the reader comes back to the end.
  await page.getByRole('button', { name: 'Latest' }).click()
  await page.getByText('Note 1500', { exact: true }).waitFor()

  if (size.width === 390) await page.getByRole('button', { name: /^Conversations/ }).click()
  await field.fill('nowhere at all')
  await list(page).getByText('No message has these words.').waitFor()
})

test("a tool's card opens to the whole result with its lines", async () => {
  const { page } = await pages.open(linkTo(hub))
  await connected(page).waitFor()
  await list(page).getByRole('button', { name: 'New conversation with homelab' }).click()
  await say(page, 'How is this machine doing?')
  await answers(page).first().waitFor()
  const line = page.locator('.tool > summary').first()
  await line.focus()
  await page.keyboard.press('Enter')
  const result = page.getByRole('group', { name: 'Result' }).first()
  await expect.poll(() => result.textContent(), { timeout: 20_000 }).toMatch(/\S\n.*\S\n/)
  await expectNoViolations(page, 'a whole result')
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
})
