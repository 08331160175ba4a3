import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { createScriptedModel, hold, say } from '../support/scripted-model.ts'
import { TestHub } from '../support/test-hub.ts'

/** Mounts a separate disk for the data folder, large enough for an empty hub. Needs root. */
function mountDisk(folder: string) {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', folder])
  const file = join(folder, 'large-file')
  return {
    /** Fills the disk to the last byte. */
    fill() {
      const opened = openSync(file, 'w')
      try {
        for (const size of [65_536, 1]) while (write(opened, Buffer.alloc(size)));
      } finally {
        closeSync(opened)
      }
    },
    empty: () => rmSync(file),
    [Symbol.dispose]: () => void execFileSync('umount', ['--lazy', folder]),
  }
}

function write(opened: number, bytes: Buffer): boolean {
  try {
    return writeSync(opened, bytes) === bytes.length
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
    throw error
  }
}

const FULL = "unavailable: The data folder's disk is full, so nothing was stored. Make room on it"

test('promise 1: a full disk refuses posts and says why; the hub lives, and goes on when there is room', async () => {
  const first = hold(say('This has no room.'))
  const model = createScriptedModel([first.turn, say('Here you are.'), say('And here.')])
  await using hub = new TestHub({ overrides: { model } })
  using disk = mountDisk(hub.dataFolder)
  await hub.start()
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  const asked = await chat.say('homelab', 'lights?')
  await first.begun

  disk.fill()
  first.release()
  await hub.logs.find('the cycle meets the full disk', ({ event }) => event === 'cycle_broke')
  for (const id of ['c1', 'c2']) {
    await expect(chat.say('homelab', `heating? ${'x'.repeat(50_000)}`, id)).rejects.toThrow(FULL)
  }
  expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)

  disk.empty()
  await chat.answerTo(await chat.say('homelab', 'heating?', 'c1'))
  await chat.answerTo(asked)
  const agentTexts = chat.messages.flatMap(({ kind, text }) => (kind === 'user' ? [] : [`${kind}: ${text}`]))
  expect(agentTexts).toEqual(['agent: Here you are.', 'agent: And here.'])
  await hub.stop()
  const database = new Database(join(hub.dataFolder, 'superbloom.db'), { readonly: true })
  const integrity = database.pragma('integrity_check', { simple: true })
  database.close()
  expect(integrity).toBe('ok')
})
