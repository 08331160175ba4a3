import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, connected, log, messageBox } from './page/steps.ts'

const SIZE = { width: 360, height: 740 }
const LONG = `https://example.org/${'a-very-long-path/'.repeat(12)}`
const WIDE = [
  `A long link: ${LONG} and a name ${'x'.repeat(120)}.`,
  `\`\`\`sh\n${'docker compose logs --follow --timestamps '.repeat(4)}\n\`\`\``,
  `| name | image | status | ports | created |\n| - | - | - | - | - |\n| ${'jellyfin-server-nightly | '.repeat(5)}`,
  'That is all.',
]

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
beforeEach(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({ config: '', variables: speaker.variables })
})
afterEach(async () => {
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})
const pages = usePages()

/** Checks that nothing is beyond the right edge, except inside boxes with their own scroll bars. */
async function expectNoSidewaysScroll(page: Page, state: string): Promise<void> {
  const wide = await page.evaluate<string[]>(`(() => {
    const root = document.documentElement
    const inside = '.md-code, .md-scroll, .field, .visually-hidden, .skip'
    const beyond = [...document.querySelectorAll('body *')].filter(
      one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(inside),
    )
    const scrolls = [root, ...document.querySelectorAll('.scroller, dialog')].filter(
      one => one.scrollWidth > one.clientWidth,
    )
    return [...beyond, ...scrolls].map(one => one.tagName + '.' + one.className)
  })()`)
  expect(wide, state).toEqual([])
}

async function expectInSight(page: Page, name: string, box: { y: number; height: number } | null) {
  const height = page.viewportSize()?.height ?? 0
  expect(box, name).not.toBe(null)
  expect((box?.y ?? 0) + (box?.height ?? 0), `the end of ${name}`).toBeLessThanOrEqual(height)
  expect(box?.y ?? -1, `the beginning of ${name}`).toBeGreaterThanOrEqual(0)
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).tap()

test('the whole story with a thumb, at 360 by 740, without a sideways scroll', async () => {
  const { page } = await pages.open(hub.url, { ...SIZE, touch: true })
  const send = page.getByRole('button', { name: 'Send' })
  await page.getByLabel('Token').fill(hub.token)
  await expectNoSidewaysScroll(page, 'the gate')
  await press(page, 'Open')
  await connected(page).waitFor({ state: 'attached' })
  await expectNoSidewaysScroll(page, 'the beginning')
  await expectInSight(page, 'the message box', await messageBox(page).boundingBox())

  await press(page, 'How is this machine doing?')
  const call = await speaker.speech(1)
  call.says('I look.')
  call.calls('get_system_metrics')
  call.ends()
  const answer = await speaker.speech(2)
  answer.says(WIDE.slice(0, -1).join('\n\n'))
  await page.locator('.md-streaming table').waitFor()
  await expectNoSidewaysScroll(page, 'a stream')
  answer.says(`\n\n${WIDE.at(-1)}`)
  answer.ends()
  await answers(page).getByText('That is all.').waitFor()
  await log(page).locator('.tool').tap()
  await log(page).locator('.tool-detail').getByText('get_system_metrics').waitFor()
  await expectNoSidewaysScroll(page, 'an answer with everything wide in it')

  await messageBox(page).fill(`Look at ${LONG}`)
  await send.tap()
  await log(page).getByText(LONG).last().waitFor()
  await expectNoSidewaysScroll(page, 'a long message')
  await expectInSight(page, 'the message box', await messageBox(page).boundingBox())

  // An on-screen keyboard leaves this size.
  await page.setViewportSize({ ...SIZE, height: 380 })
  await expectInSight(page, 'the message box above a keyboard', await messageBox(page).boundingBox())
  await expectInSight(page, 'the send button above a keyboard', await send.boundingBox())
})

test('a keyboard that opens while an answer arrives leaves the end of it in sight', async () => {
  const { page } = await pages.open(`${hub.url}/#token=${hub.token}`, { ...SIZE, touch: true })
  await press(page, 'How is this machine doing?')
  const answer = await speaker.speech(1)
  answer.says(Array.from({ length: 40 }, (_, line) => `Line ${line}`).join('\n\n'))
  await answers(page).or(page.locator('.md-streaming')).getByText('Line 39').waitFor()
  // A piece of the answer scrolls, and the keyboard takes its room before the page hears of that.
  await page.evaluate(`(() => {
    document.querySelector('.scroller').scrollTop -= 1
    document.documentElement.style.setProperty('--height', '380px')
  })()`)
  answer.says('\n\nThat is all.')
  answer.ends()
  await answers(page).getByText('That is all.').waitFor()
  const end = await page.getByText('That is all.').boundingBox()
  expect((end?.y ?? 0) + (end?.height ?? 0)).toBeLessThan(380)
})

test('the panel and the conversations are sheets that close again', async () => {
  const { page } = await pages.open(`${hub.url}/#token=${hub.token}`, { ...SIZE, touch: true })
  await connected(page).waitFor({ state: 'attached' })
  expect(await page.getByRole('dialog').count()).toBe(0)

  await press(page, 'The hub: agents, schedules, servers')
  const panel = page.getByRole('dialog', { name: 'The hub' })
  await panel.getByText('metrics').waitFor()
  await expectNoSidewaysScroll(page, 'the panel')
  await untilStill(page)
  const sheet = await panel.boundingBox()
  expect(sheet).toMatchObject({ x: 0, width: SIZE.width })
  await expectInSight(page, 'the panel', sheet)
  expect(sheet?.y).toBeGreaterThan(0)
  await panel.getByRole('button', { name: 'Close' }).tap()
  await panel.waitFor({ state: 'detached' })

  await press(page, 'Conversations')
  const nav = page.getByRole('dialog', { name: 'Conversations' })
  await expectNoSidewaysScroll(page, 'the conversations')
  await nav.getByRole('button', { name: 'New conversation with homelab' }).tap()
  await nav.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'New conversation' }).waitFor()
  await expectNoSidewaysScroll(page, 'a new conversation')
})

/** Waits until the sheet has slid in. */
const untilStill = (page: Page) =>
  page.evaluate(`Promise.all(document.querySelector('dialog').getAnimations().map(one => one.finished))`)
