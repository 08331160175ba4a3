import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { connected, linkTo, log, messageBox, say } from './page/steps.ts'

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
beforeEach(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({ variables: speaker.variables })
})
afterEach(async () => {
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})
const pages = usePages()

const stop = (page: Page) => page.getByRole('button', { name: 'Stop homelab' })
const stopped = (page: Page) => log(page).getByText('I was stopped by owner.')

async function beginAnswer(page: Page, which: number): Promise<void> {
  await say(page, 'Tell me everything')
  const speech = await speaker.speech(which)
  speech.says('One two')
  await page.locator('.md-streaming').getByText('One two').waitFor()
  await stop(page).waitFor()
}

test('an agent at work is stopped by its button, by Escape, and by a message', async () => {
  const { page, sent } = await pages.open(linkTo(hub))
  await connected(page).waitFor()
  expect(await stop(page).count()).toBe(0)
  await beginAnswer(page, 1)
  await expectNoViolations(page, 'an agent at work')
  await stop(page).click()
  await stopped(page).waitFor()
  await stop(page).waitFor({ state: 'detached' })
  expect(sent.all.at(-1)).toEqual({ type: 'stop', conversation: 'homelab' })

  await beginAnswer(page, 2)
  await messageBox(page).press('Escape')
  await stopped(page).nth(1).waitFor()
  await page.getByRole('complementary', { name: 'The hub' }).waitFor()

  await beginAnswer(page, 3)
  await say(page, '/stop')
  await stopped(page).nth(2).waitFor()
})

test('a message that begins with a slash is told what it may be, on a phone too', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await connected(page).waitFor({ state: 'attached' })
  await messageBox(page).fill('/')
  await page.getByText('ends what the agent does right now').waitFor()
  await expectNoViolations(page, 'the commands')
  await page.getByRole('button', { name: '/reset [note]' }).tap()
  expect(await messageBox(page).inputValue()).toBe('/reset ')
  await messageBox(page).fill('/etc/hosts is wrong')
  expect(await page.locator('.commands').count()).toBe(0)
})
