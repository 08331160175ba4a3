import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { type Line, openLine } from './page/line.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, connected, linkTo, log, notConnected, say } from './page/steps.ts'

const pages = usePages()
let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
let line: Line
beforeAll(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({ config: '', variables: speaker.variables })
  line = await openLine(hub)
})
afterAll(async () => {
  await line[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})

test('the gate', async () => {
  const refused = /^error: (WebSocket connection to '\S+' failed|Failed to load resource: .* status of 401)/
  const { page } = await pages.open(hub.url, { mayLog: refused })
  await page.getByLabel('Token').waitFor()
  await expectNoViolations(page, 'the gate')
  await page.getByLabel('Token').fill('not-the-one')
  await page.getByLabel('Token').press('Enter')
  await page.getByRole('alert').getByText('The hub does not know this token.').waitFor()
  await expectNoViolations(page, 'a wrong token')
})

test('a conversation, from its beginning to the loss of the line', async () => {
  const { page } = await pages.open(linkTo({ url: line.url, token: hub.token }))
  await page.getByRole('region', { name: 'Servers' }).getByText('ready').waitFor()
  await expectNoViolations(page, 'the beginning')

  await say(page, 'How is this machine doing?')
  const call = await speaker.speech(1)
  await page.getByText('homelab is thinking').waitFor()
  await expectNoViolations(page, 'waiting for the first word')
  call.says('I look.')
  call.calls('get_system_metrics')
  call.ends()
  const answer = await speaker.speech(2)
  answer.says(
    '## Well\n\n- **CPU** `4 %`\n\n> A quote with a [link](https://example.org)\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n',
  )
  await page.locator('.md-streaming table').waitFor()
  await expectNoViolations(page, 'a stream')
  answer.says('```sh\ndf -h\n```\n\nDone.')
  answer.ends()
  await answers(page).getByText('Done.').waitFor()
  await log(page).locator('.tool summary').click()
  await answers(page).hover()
  await expectNoViolations(page, 'an answer with all that Markdown has, and a tool opened')

  line.cut('hold')
  await notConnected(page).waitFor()
  await say(page, 'Are you there?')
  await page.getByText('Sending…').waitFor()
  await expectNoViolations(page, 'the line is lost')
  line.mend()
  await connected(page).waitFor()
  const last = await speaker.speech(3)
  last.calls('schedule_wake', { delay: '2h', reason: 'Check the disks' })
  last.ends()
  await page.getByRole('button', { name: 'Cancel: Check the disks' }).click()
  await page.getByRole('button', { name: 'Keep' }).waitFor()
  await expectNoViolations(page, 'a schedule, with the question whether to cancel it')
})

test('an error, and the sheets of a phone', async () => {
  const options = { width: 360, height: 740, touch: true }
  const { page } = await pages.open(`${linkTo(hub)}&c=homelab/phone`, options)
  await connected(page).waitFor({ state: 'attached' })
  await expectNoViolations(page, 'a beginning on a phone')
  const before = speaker.asked
  await say(page, 'Hello?')
  const speech = await speaker.speech(before + 1)
  speech.breaks()
  await page.getByRole('article', { name: 'Error' }).waitFor()
  await expectNoViolations(page, 'an error')
  for (const name of ['Conversations', 'The hub: agents, schedules, servers']) {
    await page.getByRole('button', { name }).tap()
    await page.getByRole('dialog').waitFor()
    await expectNoViolations(page, `${name} on a phone`)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).tap()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  expect(await page.getByRole('article', { name: 'Error' }).count()).toBe(1)
})
