import { renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { LINES, openClient } from '../support/clients.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createScriptedModel, hold, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

/** Takes the write lock, like another process with a long transaction. */
function lock({ dataFolder }: TestHub) {
  const other = new Database(join(dataFolder, 'superbloom.db'))
  other.exec('begin immediate')
  return {
    free: () => void other.exec('commit'),
    [Symbol.dispose]: () => void other.close(),
  }
}

const textsOf = (messages: readonly { kind: string; text: string }[]) =>
  messages.map(({ kind, text }) => `${kind}: ${text}`)

test('promise 1: a post that meets a locked database is refused, says why, and is taken when it comes again', async () => {
  const model = createScriptedModel([say('Here you are.')])
  await using hub = await startTestHub({ overrides: { model } })
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  using other = lock(hub)
  const refused = expect(chat.say('homelab', 'lights?', 'c1')).rejects.toThrow(
    'unavailable: Another process keeps superbloom.db locked, so nothing was stored.',
  )
  expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)
  expect(await chat.subscribe('homelab')).toBe(0)
  await refused
  expect(hub.logs.all.filter(({ event }) => event === 'frame_failed')).toHaveLength(1)

  other.free()
  await chat.answerTo(await chat.say('homelab', 'lights?', 'c1'))
  expect(textsOf(chat.messages)).toEqual(['user: lights?', 'agent: Here you are.'])
})

test('promise 11: a database that is gone while the hub runs is reported, and posts are refused until it is back', async () => {
  await using hub = await startTestHub({ overrides: { model: createScriptedModel([say('Here you are.')]) } })
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  const file = join(hub.dataFolder, 'superbloom.db')
  renameSync(file, `${file}.aside`)
  const why = 'superbloom.db was deleted, moved or replaced while the hub runs'
  await expect(chat.say('homelab', 'lights?')).rejects.toThrow(why)
  const failed = hub.logs.all.find(({ event }) => event === 'frame_failed')
  expect(failed).toMatchObject({ level: 'error' })
  await using client = await openClient(LINES[0], hub)
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    problems: [expect.stringContaining(why)],
  })
  renameSync(`${file}.aside`, file)
  await chat.answerTo(await chat.say('homelab', 'lights?'))
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({ problems: [] })
})

test('promise 4: a cycle that meets a locked database goes on when the lock is gone, and nobody gives it up', async () => {
  const clock = createFakeClock()
  const first = hold(say('This is lost with the lock.'))
  const model = createScriptedModel([first.turn, say('Here you are.')])
  await using hub = await startTestHub({ overrides: { clock, model } })
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  const asked = await chat.say('homelab', 'lights?')
  await first.begun
  using other = lock(hub)
  first.release()
  // The lock is freed as soon as the failure is known, so that the cycle's end can be written.
  await hub.logs.find('the cycle meets the lock', ({ event }) => event === 'cycle_broke')
  other.free()
  await clock.armed(10_000)
  clock.advance(10_000)
  await chat.answerTo(asked)
  expect(textsOf(chat.messages)).toEqual(['user: lights?', 'agent: Here you are.'])
})
