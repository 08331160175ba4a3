import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ChatMessage } from '../../schemas/chat.ts'
import { root } from '../support/built.ts'
import { openChat } from '../support/chat-client.ts'
import { ada, home, openLab, toConfig } from '../support/discord-hub.ts'
import { type Program, startProgram } from '../support/program.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { until } from '../support/until.ts'
import { type OpenPage, usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, linkTo, log, notConnected, say, shownMessages } from './page/steps.ts'
import { freePort } from './setup/scratch.ts'

/** Matches what Chromium itself logs about a hub that is down. */
const REFUSED = /^error: (WebSocket connection to '\S+' failed|Failed to load resource: net::ERR_\w+)/
const TOKEN = 'a-token-for-every-place'
const CLI = join(root, 'bin', 'superbloom.js')

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let folder: ReturnType<typeof makeTempFolder>
let env: Record<string, string>
let url: string
beforeEach(async () => {
  speaker = await startSpeaker()
  folder = makeTempFolder()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  env = {
    SUPERBLOOM_CONFIG: join(folder.path, 'superbloom.yaml'),
    SUPERBLOOM_DATA: join(folder.path, 'data'),
    SUPERBLOOM_PORT: String(port),
    SUPERBLOOM_TOKEN: TOKEN,
    OPENAI_API_KEY: 'none',
    ...speaker.variables,
  }
})
afterEach(async () => {
  await speaker[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})
const pages = usePages()

async function startHub(): Promise<Program> {
  const hub = await startProgram(process.execPath, [CLI, 'start'], { cwd: folder.path, env })
  await until('the bot is connected', () => hub.stderr.includes('discord_connected'))
  return hub
}

/** Opens the chat as a person does, at a terminal that `script` makes. */
async function openTerminal(): Promise<Program & { type(keys: string): void }> {
  const program = await startProgram(
    'script',
    ['-qfec', `"${process.execPath}" "${CLI}" chat`, '/dev/null'],
    {
      cwd: folder.path,
      env: { ...env, TERM: 'xterm' },
      input: true,
    },
  )
  await program.says(/homelab, connected/)
  return Object.assign(program, { type: (keys: string) => void program.child.stdin?.write(keys) })
}

/** Returns what the hub has stored, once its last message has this text. */
async function readStored(last: string): Promise<ChatMessage[]> {
  using chat = await openChat({ url, token: TOKEN })
  await chat.subscribe('homelab', 0)
  await chat.next('message', ({ message }) => message.text === last)
  return chat.messages.filter(({ kind }) => kind === 'user' || kind === 'agent')
}

test('two browsers, a phone, a terminal and Discord show the same messages in the same order, through a kill in the middle of a stream', async () => {
  const lab = await openLab()
  writeFileSync(join(folder.path, 'superbloom.yaml'), toConfig(lab))
  await using stack = new AsyncDisposableStack()
  let hub = stack.use(await startHub())
  const open = (size: object) => pages.open(linkTo({ url, token: TOKEN }), { ...size, mayLog: REFUSED })
  const desk = await open({})
  const tablet = await open({ width: 820, height: 1180 })
  const phone = await open({ width: 390, height: 844, touch: true })
  const browsers = [desk, tablet, phone]
  await using terminal = await openTerminal()
  const everywhere = (text: string) =>
    Promise.all([
      ...browsers.map(({ page }) => log(page).getByText(text, { exact: true }).waitFor()),
      until(`the terminal shows ${text}`, () => terminal.stdout.includes(text)),
    ])

  await say(desk.page, 'one, from the desk')
  const first = await speaker.speech(1)
  first.says('Half of the first ')
  await Promise.all(
    browsers.map(({ page }) => page.locator('.md-streaming').getByText('Half of the first').waitFor()),
  )
  await say(phone.page, 'two, from the phone')
  await everywhere('two, from the phone')
  terminal.type('three, from the terminal\r')
  await everywhere('three, from the terminal')
  lab.say(ada, home, 'four, from Discord')
  await everywhere('four, from Discord')

  hub.signal('SIGKILL', 'group')
  await hub.ended
  await Promise.all(browsers.map(({ page }) => notConnected(page).waitFor()))
  await say(tablet.page, 'five, written while it was down')
  lab.say(ada, home, 'six, written while it was down', { isLost: true })
  hub = stack.use(await startHub())
  await everywhere('five, written while it was down')
  await everywhere('six, written while it was down')

  await answer(2, 'The whole first answer.')
  await everywhere('The whole first answer.')
  await answer(3, 'The second answer.')
  await everywhere('The second answer.')
  terminal.type('seven, after it all\r')
  await answer(4, 'The last answer.')
  await everywhere('The last answer.')
  await lab.messages.find('the last answer', ({ content }) => content === 'The last answer.')

  const stored = await readStored('The last answer.')
  await expectSame(browsers, stored)
  expectOrder(terminal.stdout, stored)
  const onDiscord = stored.filter(({ kind, text }) => kind === 'agent' || /^(four|six)/.test(text))
  const shown = lab.messages.all.filter(({ channel_id }) => channel_id === home.id)
  expect(shown.map(({ content }) => content)).toEqual(onDiscord.map(({ text }) => text))
  expect(stored).toHaveLength(10)
  hub.signal('SIGTERM')
  expect((await hub.ended).code).toBe(0)
})

async function answer(which: number, text: string): Promise<void> {
  const speech = await speaker.speech(which)
  speech.says(text)
  speech.ends()
}

async function expectSame(browsers: readonly OpenPage[], stored: readonly ChatMessage[]): Promise<void> {
  const expected = stored.map(({ kind, text }) => ({ kind, text }))
  for (const { page } of browsers) {
    await answers(page).getByText('The last answer.').waitFor()
    expect(await shownMessages(page)).toEqual(expected)
  }
}

/** Checks that a terminal shows the messages in this order, and what the agent says once. */
function expectOrder(output: string, stored: readonly ChatMessage[]): void {
  const places = stored.map(({ text }) => output.indexOf(text))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  for (const { kind, text } of stored)
    if (kind === 'agent') expect([text, output.split(text).length - 1]).toEqual([text, 1])
}
