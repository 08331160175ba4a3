import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { readFocus, tabTo } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { answers, connected, log, messageBox } from './page/steps.ts'

const pages = usePages()
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: '' })
})
afterAll(() => hub[Symbol.asyncDispose]())

const focusIs = (page: Parameters<typeof readFocus>[0], name: string) =>
  expect.poll(async () => (await readFocus(page)).name, { timeout: 20_000 }).toBe(name)

test('the whole story without a mouse', async () => {
  const { page } = await pages.open(hub.url)
  const { keyboard } = page

  // The token's form has the focus.
  await focusIs(page, 'Token')
  await keyboard.type(hub.token)
  await keyboard.press('Enter')
  await connected(page).waitFor()

  // The first stop skips everything and leads to the message box.
  await tabTo(page, 'Skip to the message box')
  await keyboard.press('Enter')
  await focusIs(page, 'Message to homelab')
  await keyboard.type('How is this')
  await keyboard.press('Shift+Enter')
  await keyboard.type('machine doing?')
  await keyboard.press('Enter')
  await answers(page).filter({ hasText: 'CPU' }).waitFor()
  expect(await log(page).locator('.bubble').textContent()).toBe('How is this\nmachine doing?')
  expect(await messageBox(page).inputValue()).toBe('')

  // A tool call's details open and close in place.
  await tabTo(page, /^Get system metrics/, 'Shift+Tab')
  await keyboard.press('Enter')
  await log(page).locator('.tool-detail').getByText('get_system_metrics').waitFor()
  await keyboard.press('Space')
  await log(page).locator('.tool-detail').waitFor({ state: 'hidden' })

  // A key leads from anywhere to the message box, where the last message can be recalled.
  await keyboard.press('/')
  await focusIs(page, 'Message to homelab')
  await keyboard.press('ArrowUp')
  expect(await messageBox(page).inputValue()).toBe('How is this\nmachine doing?')
  await keyboard.press('Control+a')
  await keyboard.type('Remind me in 2 hours to check the disks')
  await keyboard.press('Enter')
  const schedule = page.getByRole('region', { name: 'Scheduled' })
  await schedule.getByText('check the disks').waitFor()

  // A cancellation needs a confirmation.
  await tabTo(page, 'Cancel: check the disks')
  await keyboard.press('Enter')
  await focusIs(page, 'Keep')
  await keyboard.press('Enter')
  await tabTo(page, 'Cancel: check the disks')
  await keyboard.press('Enter')
  await focusIs(page, 'Keep')
  await tabTo(page, 'Cancel it', 'Shift+Tab')
  await keyboard.press('Enter')
  await schedule.getByText('Nothing.').waitFor()

  // The panel closes, and its button has the focus.
  await keyboard.press('Escape')
  await page.getByRole('complementary', { name: 'The hub' }).waitFor({ state: 'detached' })
  await focusIs(page, 'The hub: agents, schedules, servers')
  await keyboard.press('Enter')
  await schedule.waitFor()

  // The keyboard opens another conversation and changes the theme.
  await tabTo(page, 'New conversation with homelab')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New conversation', exact: true }).waitFor()
  await focusIs(page, 'Message to homelab')
  await keyboard.type('The disks')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The disks', exact: true }).waitFor()

  // It is renamed and pinned, and its deletion is undone.
  await tabTo(page, 'Rename, pin or delete: The disks', 'Shift+Tab')
  await keyboard.press('Enter')
  await tabTo(page, 'Rename')
  await keyboard.press('Enter')
  await focusIs(page, 'Title of the conversation')
  await keyboard.type('磁盘 📀')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: '磁盘 📀', exact: true }).waitFor()
  await focusIs(page, 'Rename, pin or delete: 磁盘 📀')
  await keyboard.press('Enter')
  await tabTo(page, 'Pin')
  await keyboard.press('Enter')
  await page.getByRole('button', { name: 'Pinned: 磁盘 📀', exact: true }).waitFor()
  await keyboard.press('Enter')
  await tabTo(page, 'Delete')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'homelab', exact: true }).waitFor()
  await focusIs(page, 'Undo')
  await keyboard.press('Enter')
  await page.getByRole('button', { name: 'Pinned: 磁盘 📀', exact: true }).waitFor()

  // The house and the settings open, and lead back.
  await tabTo(page, 'House', 'Shift+Tab')
  await keyboard.press('Enter')
  await page.getByRole('region', { name: 'The house' }).waitFor()
  await tabTo(page, 'Activity')
  await keyboard.press('Enter')
  await page.getByRole('region', { name: 'What comes' }).waitFor()
  await tabTo(page, 'Settings', 'Shift+Tab')
  await keyboard.press('Enter')
  await tabTo(page, 'Config in force')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Config in force', level: 3 }).waitFor()
  await tabTo(page, 'Back to the chat', 'Shift+Tab')
  await keyboard.press('Enter')
  await focusIs(page, 'The hub: agents, schedules, servers')
  await tabTo(page, 'Dark theme', 'Shift+Tab')
  await keyboard.press('Enter')
  await page.locator('html[data-theme="dark"]').waitFor()
})

test('a sheet keeps the focus inside, and Escape gives it back', async () => {
  const { page } = await pages.open(`${hub.url}/#token=${hub.token}`, { width: 700 })
  const { keyboard } = page
  await connected(page).waitFor()
  for (const [button, sheet] of [
    ['Conversations', 'Conversations'],
    ['The hub: agents, schedules, servers', 'The hub'],
  ] as const) {
    await tabTo(page, button)
    await keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: sheet })
    await dialog.waitFor()
    for (let stop = 0; stop < 12; stop++) {
      await keyboard.press('Tab')
      const isOutside =
        "!['BODY', 'HTML'].includes(document.activeElement.tagName) && !document.activeElement.closest('dialog')"
      expect(await page.evaluate(isOutside)).toBe(false)
    }
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await focusIs(page, button)
  }
})
