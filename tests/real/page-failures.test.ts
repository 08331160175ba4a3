import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AGENT, invite } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { readFocus } from './page/keyboard.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, linkTo, log, say } from './page/steps.ts'

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
beforeEach(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({ variables: speaker.variables, agents: { homelab: AGENT(true) } })
})
afterEach(async () => {
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})
const pages = usePages()

test('what failed for good leads to its dead letter, which is retried or discarded there', async () => {
  const { page } = await pages.open(linkTo(hub))
  const panel = page.getByRole('complementary', { name: 'The hub' })
  const letters = panel.getByRole('region', { name: 'Failed for good' })
  await say(page, 'How full are the disks?')
  const first = await speaker.speech(1)
  first.breaks()
  await letters.getByText('How full are the disks?').waitFor()
  await panel.getByRole('button', { name: 'Close' }).click()
  await log(page).getByRole('button', { name: 'Show what failed' }).click()
  await expect.poll(async () => (await readFocus(page)).name).toBe('Failed: How full are the disks?')
  await page.getByRole('region', { name: 'Agents' }).getByText('failed').waitFor()
  await expectNoViolations(page, 'a dead letter')

  await letters.getByRole('button', { name: 'Retry: How full are the disks?' }).click()
  const second = await speaker.speech(2)
  expect(second.request).toContain('How full are the disks?')
  second.says('Half full.')
  second.ends()
  await answers(page).getByText('Half full.').waitFor()
  await letters.getByText('That failure was retried or discarded already.').waitFor()

  await say(page, 'And the backups?')
  const third = await speaker.speech(3)
  third.breaks()
  await letters.getByRole('button', { name: 'Discard: And the backups?' }).click()
  await expectNoViolations(page, 'the question whether to discard it')
  await letters.getByRole('button', { name: 'Discard it' }).click()
  await letters.getByText('And the backups?').waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Agents' }).getByText('asleep').waitFor()

  await say(page, 'And the fans?')
  const fourth = await speaker.speech(4)
  fourth.breaks()
  await letters.getByText('And the fans?').waitFor()
  const failure = log(page).getByRole('article', { name: 'Error' }).last()
  await failure.getByRole('button', { name: 'Retry' }).click()
  await failure.getByText('It is tried again.').waitFor()
  const fifth = await speaker.speech(5)
  expect(fifth.request).toContain('And the fans?')
  fifth.says('They turn.')
  fifth.ends()
  await answers(page).getByText('They turn.').waitFor()
})

test('a member reads that the owner can have it tried again, and has no button without an effect', async () => {
  const { page } = await pages.open(linkTo({ url: hub.url, token: await invite(hub, 'mia', 'member') }))
  await say(page, 'Hello?')
  const speech = await speaker.speech(1)
  speech.breaks()
  const failure = log(page).getByRole('article', { name: 'Error' })
  await failure.getByText('The owner of the hub can have it tried again.').waitFor()
  expect(await failure.getByRole('button').count()).toBe(0)
})

test('an error that is tried again counts down to the next attempt', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await say(page, 'Hello?')
  const retry = log(page).getByText(/Attempt \d of \d failed\. The next try is in \d+ s\./)
  // The first two retries follow at once.
  for (const which of [1, 2, 3]) {
    const speech = await speaker.speech(which)
    speech.refuses()
  }
  await retry.waitFor()
  await expectNoViolations(page, 'a countdown on a phone')
})

/** Changes the hub's status to that of a night with many failures; the rest is the hub's own answer. */
async function tellOfBadNight(page: Page): Promise<void> {
  await page.route('**/mcp', async route => {
    const asked = route.request().postDataJSON() as { params: { name?: string } }
    if (asked.params.name !== 'hub_status') return route.continue()
    const response = await route.fetch()
    const answer = JSON.parse(/\{.*\}/s.exec(await response.text())?.[0] ?? '{}')
    const status = answer.result.structuredContent
    const now = Date.now()
    status.held = { since: now - 60_000, until: now + 840_000 }
    status.model.health = [{ name: 'big', state: 'down', retryAt: now + 300_000, error: 'It is asleep.' }]
    status.model.parked = 2
    status.serversDown = [{ name: 'games', since: now - 1_200_000 }]
    return route.fulfill({ json: answer })
  })
}

test('what is wrong with the hub itself stands first, with the way out', async () => {
  const { page } = await pages.open(hub.url)
  await tellOfBadNight(page)
  await page.getByLabel('Token').fill(hub.token)
  await page.getByLabel('Token').press('Enter')
  const notices = page.getByRole('region', { name: 'Needs attention' })
  await notices.getByText(/no agent runs until .*\d:\d\d.*\. Messages are kept\./).waitFor()
  await notices
    .getByText(/The model big cannot be reached; it is asked again in [45] minutes\. It is asleep\./)
    .waitFor()
  await notices.getByText('2 pieces of work wait until a model answers').waitFor()
  const asked = page.waitForRequest(request => (request.postData() ?? '').includes('"hub_retry_model"'))
  await notices.getByRole('button', { name: 'Try now: ask big again' }).click()
  await asked
  await notices.getByText('The server games went down 20 minutes ago').waitFor()
  await notices.getByRole('button', { name: 'Let the agents go' }).click()
  await expectNoViolations(page, 'what is wrong with the hub')
  const released = page.waitForRequest(request => (request.postData() ?? '').includes('"hub_release_agents"'))
  await notices.getByRole('button', { name: 'Let them go' }).click()
  await released
  await notices.getByRole('button', { name: 'Let the agents go' }).waitFor()
})
