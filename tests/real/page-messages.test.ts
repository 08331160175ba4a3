import { afterAll, beforeAll, expect, test } from 'vitest'
import { AGENT, invite } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { readFocus, tabTo } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { answers, connected, linkTo, log, messageBox, say } from './page/steps.ts'

const pages = usePages()
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: '', agents: { homelab: AGENT(true) } })
})
afterAll(() => hub[Symbol.asyncDispose]())

test('a message is edited and sent again, and a reply says what it cost, by the keyboard', async () => {
  const { page } = await pages.open(linkTo(hub))
  await connected(page).waitFor()
  await say(page, 'How is this machine doing?')
  await answers(page).first().waitFor()
  await messageBox(page).fill('a draft')
  await tabTo(page, 'Cost and tokens of this reply', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await log(page)
    .getByText(/^\d+ steps? of .*: [\d,]+ tokens in.*, [\d,]+ out, .* s$/)
    .waitFor()
  await expectNoViolations(page, 'the actions of messages')
  await tabTo(page, 'Edit and ask again', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await readFocus(page)).name).toBe('Message to homelab')
  expect(await messageBox(page).inputValue()).toBe('a draft\nHow is this machine doing?')
  await messageBox(page).fill('How is this machine doing? 再说一次')
  await page.keyboard.press('Enter')
  await log(page).locator('.bubble').getByText('再说一次').waitFor()

  // Another conversation says that the agent remembers, and how to begin anew.
  await page.getByRole('button', { name: 'New conversation with homelab' }).click()
  await page.getByText('homelab remembers what was said in its other conversations.').waitFor()
  await messageBox(page).fill('/n')
  await page.getByRole('button', { name: '/new topic' }).click()
  expect(await messageBox(page).inputValue()).toBe('/new ')
  await expectNoViolations(page, 'a new topic')
})

test('a guest begins conversations of its own, without what is not for guests', async () => {
  const { page } = await pages.open(linkTo({ url: hub.url, token: await invite(hub, 'gus', 'guest') }), {
    width: 390,
    height: 844,
    touch: true,
  })
  await messageBox(page).waitFor()
  await page.getByRole('button', { name: 'Conversations' }).tap()
  const list = page.getByRole('navigation', { name: 'Conversations' })
  await list.getByRole('button', { name: 'New conversation with homelab' }).tap()
  await page.getByText('homelab remembers what was said in its other conversations.').waitFor()
  expect(await page.getByText('/reset').count()).toBe(0)
  await say(page, 'مرحبا 👋🏽')
  await answers(page).first().waitFor()
  expect(await log(page).getByRole('button', { name: 'Copy this message' }).count()).toBeGreaterThan(1)
  expect(await log(page).getByRole('button', { name: 'Cost and tokens of this reply' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Conversations' }).tap()
  await list.getByRole('button', { name: 'Rename or pin: مرحبا 👋🏽' }).tap()
  expect(await list.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0)
  await list.getByRole('button', { name: 'Rename', exact: true }).tap()
  await list.getByLabel('Title of the conversation').fill('ضيف')
  await list.getByRole('button', { name: 'Save the title' }).tap()
  await page.locator('h1').getByText('ضيف').waitFor()
})

const BREAKS_ON_HELP = `{
  const find = DocumentFragment.prototype.querySelectorAll
  DocumentFragment.prototype.querySelectorAll = function (selector) {
    if (this.textContent.includes('/help')) throw new Error('cannot be formatted')
    return find.call(this, selector)
  }
}`

test('a text that cannot be formatted is shown as it is, and the others stay', async () => {
  const { page } = await pages.open('about:blank')
  await page.addInitScript(BREAKS_ON_HELP)
  await page.goto(linkTo(hub))
  await connected(page).waitFor()
  await say(page, '/help')
  await log(page).locator('.message-agent > .from-outside').getByText('/help').first().waitFor()
  await say(page, 'How is this machine doing?')
  await answers(page).last().waitFor()
})
