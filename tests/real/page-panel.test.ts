import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClient } from '../support/clients.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { readFocus, tabTo } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, linkTo, log, messageBox, say } from './page/steps.ts'

const pages = usePages()
let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
beforeAll(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({
    config: 'servers: { metrics: false }\nbudget: { tokensPerDay: 1000000 }\n',
    variables: speaker.variables,
  })
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})

/** Runs one cycle with a step that calls a tool and a step that answers. */
async function rememberTheCat(page: Page): Promise<void> {
  await say(page, 'My cat is called Mirabelle')
  const call = await speaker.speech(1)
  call.says('I write it down.')
  call.calls('store_context', { key: 'cat', value: 'Mirabelle' })
  call.ends()
  const answer = await speaker.speech(2)
  answer.says('Noted.')
  answer.ends()
  await answers(page).getByText('Noted.').waitFor()
}

async function publish(type: string): Promise<void> {
  await using client = await openClient('sdk 2, 2026-07-28', { url: `${hub.url}/mcp`, token: hub.token })
  await client.call('hub_publish_event', { type, payload: { door: 'front' } })
}

test('threads with their audit, events, the day’s budget and the search, by keyboard', async () => {
  const { page } = await pages.open(linkTo(hub))
  const { keyboard } = page
  const panel = page.getByRole('complementary', { name: 'The hub' })
  await rememberTheCat(page)
  await panel
    .getByRole('region', { name: 'Used today' })
    .getByText(/of 1,000,000 tokens/)
    .waitFor()
  await expectNoViolations(page, 'the present')

  await panel.getByRole('tab', { name: 'Now' }).focus()
  await keyboard.press('ArrowRight')
  expect((await readFocus(page)).name).toBe('Threads')
  await panel.getByRole('button', { name: 'homelab, its main thread' }).waitFor()
  await tabTo(page, 'homelab, its main thread')
  await keyboard.press('Enter')
  const audit = panel.getByRole('region', { name: 'Thread' })
  await audit.getByText('I write it down.').waitFor()
  await audit.getByText('My cat is called Mirabelle').waitFor()
  await audit.getByText('2 steps').waitFor()
  expect((await readFocus(page)).name).toBe('All threads')
  await tabTo(page, /^Store context done/)
  await keyboard.press('Enter')
  await audit.getByText('"value":"Mirabelle"').waitFor()
  await expectNoViolations(page, 'an audit')
  await audit.getByRole('button', { name: 'All threads' }).click()
  await expectNoViolations(page, 'the threads')

  await publish('door_open')
  await panel.getByRole('tab', { name: 'Events' }).click()
  await panel.getByText('door_open').first().waitFor()
  await panel.getByText('nobody wanted it').waitFor()
  await panel.getByText('What it said').click()
  await expectNoViolations(page, 'an event')

  await panel.getByRole('tab', { name: 'Search' }).click()
  await panel.getByLabel('Words to find').fill('mirabelle')
  await keyboard.press('Enter')
  await panel.locator('.snippet').getByText('Mirabelle').first().waitFor()
  await expectNoViolations(page, 'what was found')
  await panel.getByRole('button', { name: /^Open the thread/ }).click()
  await audit.getByText('I write it down.').waitFor()
  expect(await messageBox(page).inputValue()).toBe('')
  expect(await log(page).getByText('Noted.').count()).toBe(1)
})

test('every tab fits a phone', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await page.getByRole('button', { name: 'The hub: agents, schedules, servers' }).tap()
  const panel = page.getByRole('dialog', { name: 'The hub' })
  for (const name of ['Threads', 'Events', 'Search', 'Now']) {
    await panel.getByRole('tab', { name }).tap()
    await panel.getByText('Reading…').waitFor({ state: 'detached' })
    await expectNoViolations(page, `${name} on a phone`)
    const over = await page.evaluate<number>(
      `(e => e.scrollWidth - e.clientWidth)(document.querySelector('dialog'))`,
    )
    expect(over, `${name} scrolls sideways`).toBeLessThanOrEqual(0)
  }
})
