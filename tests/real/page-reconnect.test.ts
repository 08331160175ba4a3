import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ChatMessage } from '../../schemas/chat.ts'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { forgetConversation } from '../support/forget-conversation.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { type Line, openLine } from './page/line.ts'
import { type OpenPage, usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, connected, linkTo, messageBox, notConnected, say, shownMessages } from './page/steps.ts'

/** Matches what Chromium itself logs about an unreachable server. */
const REFUSED = /^error: (WebSocket connection to '\S+' failed|Failed to load resource: net::ERR_\w+)/

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
let line: Line

beforeEach(async () => {
  speaker = await startSpeaker()
  hub = await startTestHub({ variables: speaker.variables })
  line = await openLine(hub)
})
afterEach(async () => {
  await line[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})
const pages = usePages()

/** Opens a page so narrow that the panel, which reads by plain requests, stays closed. */
const openPage = (mayLog?: RegExp) =>
  pages.open(linkTo({ url: line.url, token: hub.token }), { width: 1000, ...(mayLog ? { mayLog } : {}) })

/** Opens a client whose network is not broken. */
async function openWatcher(): Promise<ChatClient> {
  const watcher = await openChat(hub)
  await watcher.subscribe('homelab', 0)
  return watcher
}

const nextMessage = (watcher: ChatClient, text: string) =>
  watcher.next('message', frame => frame.message.text === text)

/** Sends a message, and waits until the answer's first words are on the page. */
async function beginAnswer({ page }: OpenPage) {
  await connected(page).waitFor()
  await say(page, 'first')
  const speech = await speaker.speech(1)
  speech.says('One two')
  await page.getByText('One two', { exact: true }).waitFor()
  return speech
}

async function untilBack({ page }: OpenPage): Promise<void> {
  await connected(page).waitFor()
  await notConnected(page).waitFor({ state: 'detached' })
}

/** Checks that the page shows what the hub has stored: all of it, once, in order. */
async function expectShown({ page }: { page: Page }, ...texts: string[]): Promise<void> {
  using watcher = await openWatcher()
  await watcher.next('message', frame => frame.message.text === texts.at(-1))
  const stored = watcher.messages.map(({ seq, kind, text }: ChatMessage) => ({ seq, kind, text }))
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1))
  expect(stored.map(({ text }) => text)).toEqual(texts)
  expect(await shownMessages(page)).toEqual(stored.map(({ kind, text }) => ({ kind, text })))
  expect(await page.locator('.pending, .md-streaming').count()).toBe(0)
}

test('a cut in the middle of a stream loses nothing and repeats nothing', async () => {
  const opened = await openPage()
  const { page, sent } = opened
  using watcher = await openWatcher()
  const speech = await beginAnswer(opened)

  line.cut('hold')
  await notConnected(page).waitFor()
  await say(page, 'second, written offline')
  await page.getByText('Sending…').waitFor()
  speech.says(' three.')
  speech.ends()
  await nextMessage(watcher, 'One two three.')
  const before = sent.all.length

  line.mend()
  await untilBack(opened)
  const second = await speaker.speech(2)
  second.says('Yes.')
  second.ends()
  await answers(page).getByText('Yes.').waitFor()
  await expectShown(opened, 'first', 'One two three.', 'second, written offline', 'Yes.')
  expect(sent.all.slice(before).filter(({ type }) => type !== 'look')).toEqual([
    { type: 'subscribe', conversation: 'homelab', after: 1 },
    expect.objectContaining({ type: 'message', text: 'second, written offline' }),
  ])
  expect(speaker.asked).toBe(2)
})

test('a stream that outlasts the cut goes on, and its end replaces it', async () => {
  const opened = await openPage()
  const { page } = opened
  const speech = await beginAnswer(opened)

  line.cut('hold')
  await notConnected(page).waitFor()
  speech.says(' three')
  line.mend()
  await untilBack(opened)
  speech.says(' four')
  const streamed = page.locator('.md-streaming').getByText('four')
  await streamed.waitFor()
  // Words were missed in between, so the text before and after them must not look continuous.
  expect(await streamed.textContent()).not.toContain('two')
  speech.says(' five.')
  speech.ends()
  await answers(page).getByText('One two three four five.', { exact: true }).waitFor()
  await expectShown(opened, 'first', 'One two three four five.')
})

test('a message whose acceptance is lost is sent again and stands there once', async () => {
  const opened = await openPage()
  const { page, sent } = opened
  using watcher = await openWatcher()
  await connected(page).waitFor()

  line.deafen()
  await say(page, 'only once')
  await nextMessage(watcher, 'only once')
  await page.getByText('Sending…').waitFor()
  line.cut('hold')
  line.mend()
  await page.getByText('Sending…').waitFor({ state: 'detached' })
  const speech = await speaker.speech(1)
  speech.says('Once.')
  speech.ends()
  await answers(page).getByText('Once.').waitFor()
  await expectShown(opened, 'only once', 'Once.')
  expect(sent.all.filter(frame => frame.type === 'message')).toHaveLength(2)
})

test('what is written offline outlives the page', async () => {
  const opened = await openPage(REFUSED)
  await connected(opened.page).waitFor()
  line.cut('refuse')
  await notConnected(opened.page).waitFor()
  await say(opened.page, 'kept')
  await opened.page.getByText('Sending…').waitFor()
  const context = opened.page.context()
  await opened.page.close()

  line.mend()
  const page = await context.newPage()
  await page.goto(line.url)
  const speech = await speaker.speech(1)
  speech.says('Here.')
  speech.ends()
  await answers(page).getByText('Here.').waitFor()
  await expectShown({ page }, 'kept', 'Here.')
})

test('a hub that is started again in the middle of a stream finishes its answer on the page', async () => {
  const opened = await openPage(REFUSED)
  const { page } = opened
  await beginAnswer(opened)

  await hub.stop()
  line.cut('refuse')
  await notConnected(page).waitFor()
  await page
    .getByText(/Reconnecting in \d+ s/)
    .first()
    .waitFor()
  await messageBox(page).fill('half a thought')
  await hub.start()
  line.mend()
  await page.getByRole('button', { name: 'Try now' }).click()
  await untilBack(opened)
  const again = await speaker.speech(2)
  again.says('One two three.')
  again.ends()
  await answers(page).getByText('One two three.', { exact: true }).waitFor()
  await expectShown(opened, 'first', 'One two three.')
  expect(await messageBox(page).inputValue()).toBe('half a thought')
})

test('a conversation that is deleted while the page is open begins anew on it', async () => {
  const opened = await openPage()
  const { page } = opened
  const first = await beginAnswer(opened)
  first.says(' three.')
  first.ends()
  await answers(page).getByText('One two three.').waitFor()

  await forgetConversation(hub, 'homelab')
  await answers(page).getByText('One two three.').waitFor({ state: 'detached' })
  await say(page, 'anew')
  const second = await speaker.speech(2)
  second.says('Yes.')
  second.ends()
  await answers(page).getByText('Yes.').waitFor()
  await expectShown(opened, 'anew', 'Yes.')
})
