import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient, type TestClient } from '../support/clients.ts'
import { AGENT, invite } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { expectNoViolations } from './page/axe.ts'
import { readFocus, tabTo } from './page/keyboard.ts'
import { type Line, openLine } from './page/line.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, connected, linkTo, log, messageBox, notConnected, say } from './page/steps.ts'

/** This tool, which every hub has, stands for a harmful one. */
const CONFIG = 'tools: { approve: ["get_system_metrics"] }\n'

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
let client: TestClient
let line: Line
beforeEach(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({
    config: CONFIG,
    agents: { homelab: AGENT('[homelab/kitchen]') },
    variables: speaker.variables,
  })
  client = await openClient('sdk 2, 2026-07-28', { url: `${hub.url}/mcp`, token: hub.token })
  line = await openLine(hub)
  await until('its servers are ready', async () => (await fetch(`${hub.url}/readyz`)).ok)
})
afterEach(async () => {
  await client[Symbol.asyncDispose]()
  await line[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})
const pages = usePages()

const card = (page: Page) => log(page).getByRole('article', { name: /Get system metrics$/ })

/** Makes the agent request an approval and continue. */
async function askForYes(page: Page): Promise<void> {
  await say(page, 'Look at the machine')
  await requestYes(1)
  await answers(page).getByText('I asked for your yes.').waitFor()
  await card(page).getByText('homelab asks for a yes').waitFor()
}

async function requestYes(first: number): Promise<void> {
  const call = await speaker.speech(first)
  call.calls('get_system_metrics')
  call.ends()
  const goesOn = await speaker.speech(first + 1)
  goesOn.says('I asked for your yes.')
  goesOn.ends()
}

async function decide(decision: 'approve' | 'deny', note: string): Promise<void> {
  const { structuredContent } = await client.call('hub_list_approvals', { status: 'open' })
  const { approvals } = structuredContent as { approvals: { id: string }[] }
  const approval = approvals[0]?.id ?? ''
  using chat = await openChat(hub)
  chat.send({ type: 'decide', approval, decision, note })
  await chat.next('approval', one => one.approval.id === approval && one.approval.status !== 'open')
}

test('what will run stands on every page, is approved by keyboard, and then runs', async () => {
  const { page } = await pages.open(linkTo(hub))
  const { page: other } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await askForYes(page)
  await card(other).getByText('homelab asks for a yes').waitFor()
  expect(await card(page).textContent()).toMatch(/23 h 59 min left/)
  expect(await card(page).textContent()).toContain('get_system_metrics')
  await card(page).getByText('Settings > Servers says “Agents ask each time” of it').waitFor()
  await page.getByRole('region', { name: 'Waits for your yes' }).getByRole('article').waitFor()
  await page.getByRole('region', { name: 'Agents' }).getByText('waiting').waitFor()
  await expectNoViolations(page, 'an approval')
  await expectNoViolations(other, 'an approval on a phone')

  const { keyboard } = page
  await messageBox(page).focus()
  await tabTo(page, 'Show', 'Shift+Tab')
  await keyboard.press('Enter')
  expect((await readFocus(page)).name).toBe('Waits for your yes: Get system metrics')
  await tabTo(page, /^Note to the agent/)
  await keyboard.type('go on')
  await keyboard.press('Enter')
  expect(await card(page).getByRole('button', { name: 'Approve' }).count()).toBe(1)
  await tabTo(page, 'Deny')
  await tabTo(page, 'Approve')
  await keyboard.press('Enter')

  for (const each of [page, other]) {
    await card(each).getByText('By owner in the chat').waitFor()
    await card(each).getByText('Note: go on').waitFor()
    await log(each).locator('.tool-ok').getByText('Get system metrics').waitFor()
    expect(await each.getByText('waits for your yes').count()).toBe(0)
  }
  expect((await readFocus(page)).name).toBe('Approved: Get system metrics')
  const told = await speaker.speech(3)
  expect(told.request).toContain('go on')
  told.says('All is well.')
  told.ends()
  await answers(page).getByText('All is well.').waitFor()
  await expectNoViolations(page, 'an approval that was given')
})

test('who was first elsewhere stands on the card, and the call does not run', async () => {
  const { page } = await pages.open(linkTo(hub))
  await askForYes(page)
  await decide('deny', 'not now')
  await card(page).getByText('By owner in the chat').waitFor()
  await card(page).getByText('It does not run.').waitFor()
  await card(page).getByText('Note: not now').waitFor()
  await log(page).locator('.tool-denied').waitFor()
  expect(await card(page).getByRole('button').count()).toBe(0)
})

test('a yes for a day lets the next call run, and is listed', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, touch: true })
  await askForYes(page)
  await card(page).getByLabel('A yes holds').selectOption('for a day, whenever a person asks for it')
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await log(page).getByText('run without asking until').waitFor()
  const again = await speaker.speech(3)
  again.calls('get_system_metrics')
  again.ends()
  const done = await speaker.speech(4)
  done.says('All is well.')
  done.ends()
  await answers(page).getByText('All is well.').waitFor()
  expect(await log(page).getByText('homelab asks for a yes').count()).toBe(0)
  const { structuredContent } = await client.call('hub_list_allowances', {})
  expect(structuredContent).toMatchObject({
    allowances: [{ agent: 'homelab', tool: 'get_system_metrics', power: 'person', createdBy: 'owner' }],
  })
})

test('what was decided while the page was away, and what is still open, is read when it is back', async () => {
  const { page } = await pages.open(linkTo({ url: line.url, token: hub.token }))
  await askForYes(page)
  line.cut('hold')
  await notConnected(page).waitFor()
  await card(page).getByRole('button', { name: 'Deny' }).click()
  await card(page).getByText('There is no connection to the hub.').waitFor()
  await decide('deny', 'while you were away')
  line.mend()
  await connected(page).waitFor()
  await card(page).getByText('Note: while you were away').waitFor()

  const again = await speaker.speech(3)
  again.calls('get_system_metrics')
  again.ends()
  await log(page).getByText('homelab asks for a yes').waitFor()
  await page.reload()
  await log(page).getByText('homelab asks for a yes').waitFor()
  expect(await log(page).locator('.tool').getByText('asked a person').count()).toBe(1)
  const last = await speaker.speech(4)
  last.ends()
})

test('a guest sees what waits for the owner, and no buttons that the hub would refuse', async () => {
  const guest = { url: hub.url, token: await invite(hub, 'gus', 'guest') }
  const { page } = await pages.open(linkTo(guest), { width: 390, height: 844, touch: true })
  await askForYes(page)
  await card(page).getByText('The owner answers this.').waitFor()
  expect(await page.getByRole('button', { name: /Approve|Deny|Show/ }).count()).toBe(0)
  await expectNoViolations(page, "an approval on a guest's phone")
})

test('a member answers what the member asked for, for this call alone, and nothing of others', async () => {
  const member = { url: hub.url, token: await invite(hub, 'anna', 'member') }
  const { page } = await pages.open(linkTo(member), { width: 390, height: 844, touch: true })
  await askForYes(page)
  await card(page).getByRole('button', { name: 'Deny' }).waitFor()
  expect(await page.getByText('A yes holds').count()).toBe(0)
  using owner = await openChat(hub)
  owner.send({ type: 'message', conversation: 'homelab/kitchen', text: 'And in the kitchen?' })
  await requestYes(3)
  await page.goto(`${hub.url}/#c=homelab/kitchen`)
  await card(page).getByText('The owner answers this.').waitFor()
  expect(
    await card(page)
      .getByRole('button', { name: /Approve|Deny/ })
      .count(),
  ).toBe(0)
  await card(page).getByText('Asked by owner, in homelab/kitchen.').waitFor()
  expect(await page.getByText('owner', { exact: true }).count()).toBe(2)
  expect(await log(page).getByRole('button', { name: 'Edit and ask again' }).count()).toBe(0)
  await expectNoViolations(page, "somebody else's approval on a member's phone")
})
