import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { type ServerWorld, startWorld } from '../../kit/testing/server-world.ts'
import { downloads } from '../server.ts'
import { type FakeProgram, startFakeProgram } from '../testing/fake-programs.ts'

/** A clock whose waits end at once, so that probes of a program follow each other. */
const hasty: Clock = {
  ...systemClock,
  after: (delay, run) => systemClock.after(delay < 5000 ? 0 : delay, run),
}

const WRITES: [string, Record<string, unknown>, string][] = [
  ['pause_download', { download: 'lab show' }, 'does not show that "Lab.Show.S01E01" is paused'],
  ['resume_download', { download: 'lab show' }, 'does not show that "Lab.Show.S01E01" is resumed'],
  ['pause_downloads', {}, 'does not show that it is paused'],
  ['resume_downloads', {}, 'does not show that it goes on'],
  ['set_download_speed', { limitMiBps: 8 }, 'does not show that the limit is set'],
  ['remove_download', { download: 'lab show', confirm: true }, '"Lab.Show.S01E01" is gone'],
]

describe.each(['sabnzbd', 'qbittorrent', 'transmission'] as const)('%s', kind => {
  let program: FakeProgram
  let world: ServerWorld
  beforeEach(async () => {
    program = await startFakeProgram(kind)
    const { environment } = program
    world = await startWorld(downloads, { clock: hasty, environment, watchers: false })
  })
  afterEach(async () => {
    await world[Symbol.asyncDispose]()
    await program.upstream[Symbol.asyncDispose]()
  })

  test('what is read right after a write agrees with it, also where the program shows it late', async () => {
    program.lag(6)
    const states = async () => {
      const { data } = await world.call('get_download_status')
      return (data['downloads'] as { name: string; state: string }[])
        .filter(({ name }) => name === 'Lab.Show.S01E01')
        .map(({ state }) => state)
    }
    await world.call('pause_download', { download: 'lab show' })
    expect(await states()).toEqual(['paused'])
    await world.call('resume_download', { download: 'lab show' })
    expect(await states()).toEqual(['downloading'])
    await world.call('remove_download', { download: 'lab show', confirm: true })
    expect(await states()).toEqual([])
  })

  test.each(WRITES)('%s says so where the program does not show it', async (tool, args, said) => {
    const before = tool.replace('resume', 'pause')
    if (before !== tool) await world.call(before, args)
    program.lag(1000)
    const { isError, text } = await world.call(tool, args)
    expect([isError, text.includes(said)], text).toEqual([true, true])
    expect(text).toMatch(/5 s later it still shows the state from before.*get_download_status in a moment/s)
  })
})

test('a start that Transmission drops while it still stops the torrent is asked for again', async () => {
  const program = await startFakeProgram('transmission')
  await using _ = program.upstream
  await using world = await startWorld(downloads, {
    clock: hasty,
    environment: program.environment,
    watchers: false,
  })
  await world.call('pause_download', { download: 'lab show' })
  program.dropNextStart?.()
  expect((await world.call('resume_download', { download: 'lab show' })).text).toMatch(/is resumed/)
  expect((await world.call('get_download_status')).text).toContain('downloading')
})
