import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { startWorld } from '../kit/testing/server-world.ts'
import { downloads } from './server.ts'
import { type FakeProgram, startFakeProgram } from './testing/fake-programs.ts'

const READING = ['get_download_status', 'get_download_history']
const TOOLS = [
  ...READING,
  'pause_downloads',
  'resume_downloads',
  'pause_download',
  'resume_download',
  'set_download_speed',
  'add_download',
  'remove_download',
  'set_download_priority',
]

let program: FakeProgram
beforeEach(async () => {
  program = await startFakeProgram('sabnzbd')
})
afterEach(() => program.upstream[Symbol.asyncDispose]())

test('only what reads is offered where it is read-only, and only removing is called destructive', async () => {
  const clock = createFakeClock()
  await using all = await startWorld(downloads, { clock, environment: {} })
  expect(all.listed().map(({ name }) => name)).toEqual(TOOLS)
  const destructive = all.listed().filter(({ annotations }) => annotations?.destructiveHint)
  expect(destructive.map(({ name }) => name)).toEqual(['remove_download'])
  await using world = await startWorld(downloads, { clock, environment: { DOWNLOADS_READ_ONLY: 'true' } })
  expect(world.listed().map(({ name }) => name)).toEqual(READING)
})
