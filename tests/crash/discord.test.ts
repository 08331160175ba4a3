import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../support/built.ts'
import { ada, home, openLab, toConfig } from '../support/discord-hub.ts'
import { startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-discord-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const startHub = () =>
  startProgram(process.execPath, [join(root, 'bin', 'superbloom.js'), 'start'], {
    cwd: folder,
    env: { SUPERBLOOM_CONFIG: join(folder, 'superbloom.yaml'), SUPERBLOOM_PORT: '0' },
  })

test('killed between the message and the reply, also while Discord took the reply, it answers once and in order', async () => {
  const lab = await openLab()
  writeFileSync(join(folder, 'superbloom.yaml'), toConfig(lab))
  const posts = () =>
    lab.requests.filter(({ route }) => route === `POST /api/v10/channels/${home.id}/messages`).length
  {
    await using hub = await startHub()
    await until('the bot is connected', () => hub.stderr.includes('discord_connected'))
    // No reply reaches Discord.
    lab.failPosts({ times: 1_000, isAfter: false })
    lab.say(ada, home, 'good night')
    await until('the reply is tried', () => posts() > 0)
    hub.signal('SIGKILL', 'group')
    await hub.ended
  }
  lab.say(ada, home, 'thanks', { isLost: true })
  // Discord posts what it gets, and the hub never hears of it.
  lab.failPosts({ times: 1_000, isAfter: true })
  {
    const from = posts()
    await using hub = await startHub()
    await until('the reply is posted', () => lab.said(home.id).length > 0 && posts() > from)
    hub.signal('SIGKILL', 'group')
    await hub.ended
  }
  lab.failPosts(undefined)
  await using _hub = await startHub()
  await lab.messages.find('the second answer', ({ content }) => content === 'You are welcome.')
  expect(lab.said(home.id)).toEqual([expect.stringContaining('Good night!'), 'You are welcome.'])
})
