import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BackendState } from './game.ts'
import { openRequestedStops, withRequestedStops } from './requested-ends.ts'
import { createFakeBackend, fakeState } from './testing/fake-game.ts'

const FAILED = fakeState({ state: 'failed', detail: 'exited with code 1', exitCode: 1, stoppedAt: 5000 })
const logged: string[] = []
const log = (_level: string, event: string) => void logged.push(event)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'asked-stops-'))
  logged.length = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Opens a game that ends with code 1 when it is stopped. */
function open(file: string | undefined, now: BackendState = fakeState()) {
  const lab = { now }
  const backend = createFakeBackend({
    state: async () => lab.now,
    async stop() {
      lab.now = FAILED
      return true
    },
  })
  return Object.assign(lab, { backend: withRequestedStops('q3', backend, openRequestedStops(file, log)) })
}

test('a game that ends with the code of a failure when it is stopped is stopped, and has not failed', async () => {
  const { backend } = open(undefined)
  expect(await backend.stop(1)).toBe(true)
  expect(await backend.state()).toMatchObject({
    state: 'stopped',
    exitCode: 1,
    detail: 'exited with code 1, after it was asked to stop',
  })
})

test('a restart of this server does not forget it', async () => {
  const file = join(folder, 'data/games.json')
  await open(file).backend.stop(1)
  expect(await open(file, FAILED).backend.state()).toMatchObject({ state: 'stopped' })
})

test('another end of the same game has failed, and so has one for lack of memory', async () => {
  const lab = open(undefined)
  await lab.backend.stop(1)
  lab.now = { ...FAILED, stoppedAt: 6000 }
  expect(await lab.backend.state()).toMatchObject({ state: 'failed' })
  lab.now = { ...FAILED, oom: true }
  expect(await lab.backend.state()).toMatchObject({ state: 'failed' })
})

test('a file that is damaged or cannot be written is told of, and the stop is remembered all the same', async () => {
  const file = join(folder, 'games.json')
  writeFileSync(file, '{"stops":')
  const { backend } = open(join(file, 'inside.json'))
  await backend.stop(1)
  expect(await backend.state()).toMatchObject({ state: 'stopped' })
  openRequestedStops(file, log)
  expect(logged).toEqual(['state could not be read', 'state could not be written', 'state could not be read'])
})
