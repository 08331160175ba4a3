import { describe, expect, test } from 'vitest'
import { fakeState, fakeStatus } from '../testing/fake-game.ts'
import { createLab, finish, openLab, STOPPED } from '../testing/lab.ts'

describe('start_game_server', () => {
  const start = (world: Awaited<ReturnType<typeof openLab>>['world']) =>
    world.call('start_game_server', { server: 'atm-10' })

  test('waits until the game answers and tells how far it is', async () => {
    const lab = createLab()
    lab.state = STOPPED
    lab.status = undefined
    const { world, clock } = await openLab([lab.game])
    const starting = start(world)
    await clock.advance(20_000)
    lab.status = fakeStatus()
    const started = await finish(clock, starting)
    expect(started.data).toMatchObject({ started: true, answers: true, players: 0 })
    expect(started.text).toContain('atm-10 was started and answers after')
    expect(started.progress.at(-1)).toMatchObject({
      total: 120,
      message: expect.stringContaining('starting for'),
    })
  })

  test('leaves one alone that runs, and says whether it answers', async () => {
    const lab = createLab()
    const { world } = await openLab([lab.game])
    expect((await start(world)).text).toContain('runs already; nothing was done. It answers: nobody plays.')
    lab.status = undefined
    expect((await start(world)).text).toContain('But it does not answer')
    expect(lab.did).toEqual([])
  })

  test('one that never answers is said to run, after its time', async () => {
    const lab = createLab({ startSeconds: 30 })
    lab.state = STOPPED
    lab.status = undefined
    const { world, clock } = await openLab([lab.game])
    const { data, text, isError } = await finish(clock, start(world))
    expect(isError).toBe(false)
    expect(data).toMatchObject({
      started: true,
      answers: false,
      problem: expect.stringContaining('no answer'),
    })
    expect(text).toContain('was started and runs, but did not answer within 30 s')
  })

  test.each([
    [
      { state: 'failed', exitCode: 2, stoppedAt: 9 },
      'exit code 2; its last lines: "one"; "Two"; "three two"',
    ],
    [{ state: 'failed', exitCode: 137, oom: true, stoppedAt: 9 }, 'it ran out of memory, exit code 137'],
    [{ state: 'stopped', exitCode: 0, stoppedAt: 9 }, 'exit code 0'],
    [{ state: 'running', restarts: 3 }, 'It is started again and again by itself.'],
  ] as const)('one that ends as %j fails with its last lines', async (end, words) => {
    const lab = createLab()
    lab.state = { ...STOPPED, restarts: 0 }
    lab.status = undefined
    lab.game = {
      ...lab.game,
      backend: {
        ...lab.game.backend,
        start: async () => {
          lab.state = fakeState(end)
          return true
        },
      },
    }
    const { world, clock } = await openLab([lab.game])
    const failed = await finish(clock, start(world))
    expect(failed.isError).toBe(true)
    expect(failed.text).toContain('atm-10 ended')
    expect(failed.text).toContain(words)
  })

  test('one that its engine starts again and again is told, however often that was before', async () => {
    const lab = createLab()
    lab.state = { ...STOPPED, restarts: 7 }
    lab.status = undefined
    lab.game = {
      ...lab.game,
      backend: {
        ...lab.game.backend,
        start: async () => {
          lab.state = fakeState({ restarts: 0 })
          return true
        },
      },
    }
    const { world, clock } = await openLab([lab.game])
    const starting = start(world)
    await clock.advance(5000)
    lab.state = fakeState({ state: 'starting', restarts: 1 })
    expect((await finish(clock, starting)).text).toContain('It is started again and again by itself.')
  })

  test('without a query it must run for a while, and its health check must pass', async () => {
    const lab = createLab({ query: undefined })
    lab.state = STOPPED
    const { world, clock } = await openLab([lab.game])
    const starting = start(world)
    await clock.advance(0)
    lab.state = fakeState({ health: 'starting' })
    await clock.advance(15_000)
    lab.state = fakeState({ health: 'healthy' })
    const { data, text } = await finish(clock, starting)
    expect(data).toMatchObject({ started: true, seconds: expect.any(Number) })
    expect(data['seconds']).toBeGreaterThanOrEqual(15)
    expect(text).toContain('Whether players can join is not known')
  })

  test('access "read" forbids it, and "change" forbids a stop', async () => {
    const reading = createLab({ access: 'read' })
    const { world } = await openLab([reading.game])
    expect((await start(world)).text).toContain('access of atm-10 is "read", and this needs "change"')
    const changing = createLab({ access: 'change' })
    const other = await openLab([changing.game])
    for (const name of ['stop_game_server', 'restart_game_server']) {
      const refused = await other.world.call(name, { server: 'atm-10', confirm: true })
      expect(refused.text).toContain('this needs "full"')
    }
    expect([...reading.did, ...changing.did]).toEqual([])
  })
})
