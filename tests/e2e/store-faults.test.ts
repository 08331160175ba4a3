import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createScriptedModel, hold, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

/** Holds the lock for writing, as another process that writes for long. */
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
  expect(hub.logs.all.filter(({ event }) => event === 'message_failed')).toHaveLength(1)

  other.free()
  await chat.answerTo(await chat.say('homelab', 'lights?', 'c1'))
  expect(textsOf(chat.messages)).toEqual(['user: lights?', 'agent: Here you are.'])
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
  // As soon as it is known that it failed, so that whatever gives the cycle up could be written.
  await hub.logs.find('the cycle meets the lock', ({ event }) => event === 'cycle_broke')
  other.free()
  await clock.armed(10_000)
  clock.advance(10_000)
  await chat.answerTo(asked)
  expect(textsOf(chat.messages)).toEqual(['user: lights?', 'agent: Here you are.'])
})
