import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inspectOverHttp, inspectOverStdio } from '../kit/testing/alone.ts'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { assertFits, startWorld } from '../kit/testing/server-world.ts'
import { downloads } from './server.ts'
import { type FakeProgram, startFakeProgram } from './testing/fake-programs.ts'

const FILE = fileURLToPath(new URL('./server.ts', import.meta.url))
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

test('the official inspector lists and calls it over stdio and HTTP', async () => {
  const inspected = async ({ tools, remarks, call }: Awaited<ReturnType<typeof inspectOverStdio>>) => {
    expect(remarks).toBe('')
    expect(tools.map(({ name }) => name)).toEqual(TOOLS)
    const called = await call('get_download_status')
    expect(called).toMatchObject({ structuredContent: { clients: [{ client: 'sabnzbd' }], total: 1 } })
    assertFits(tools[0]?.outputSchema ?? {}, called['structuredContent'])
  }
  await inspected(await inspectOverStdio(FILE, program.environment))
  await inspectOverHttp(downloads, program.environment, inspected)
})

test('only what reads is offered where it is read-only, and only removing is called destructive', async () => {
  const clock = createFakeClock()
  await using all = await startWorld(downloads, { clock, environment: {} })
  const destructive = all.listed().filter(({ annotations }) => annotations?.destructiveHint)
  expect(destructive.map(({ name }) => name)).toEqual(['remove_download'])
  await using world = await startWorld(downloads, { clock, environment: { DOWNLOADS_READ_ONLY: 'true' } })
  expect(world.listed().map(({ name }) => name)).toEqual(READING)
})
