import { describe, expect, test } from 'vitest'
import type { Game } from '../game.ts'
import { fakeState, fakeStatus, silence } from '../testing/fake-game.ts'
import { createLab, finish, openLab } from '../testing/lab.ts'

describe('stop_game_server', () => {
  const stop = (world: Awaited<ReturnType<typeof openLab>>['world'], args = {}, signal?: AbortSignal) =>
    world.call('stop_game_server', { server: 'atm-10', ...args }, signal)
  const busy = (parts: Partial<Game> = {}) => {
    const lab = createLab(parts)
    lab.status = fakeStatus({ players: 2, names: ['Ann', 'Bob'] })
    return lab
  }

  test('stops at once where nobody plays, also unconfirmed', async () => {
    const lab = createLab()
    const { world } = await openLab([lab.game])
    const { data, text } = await stop(world)
    expect(data).toMatchObject({ done: true, stopped: true, players: 0, warned: false })
    expect(text).toContain('atm-10 was stopped. Nobody was online.')
    expect(lab.did).toEqual(['stop 30'])
    expect((await stop(world)).text).toBe('atm-10 was not stopped: it is stopped already.')
  })

  test('does nothing while somebody plays', async () => {
    const lab = busy()
    const { world } = await openLab([lab.game])
    const { data, text } = await stop(world)
    expect(data).toMatchObject({
      done: false,
      stopped: false,
      preview: { would: 'stop atm-10 with 2 players online' },
    })
    expect(text).toContain('Online now: 2 of 20 players: "Ann", "Bob".')
    expect(text).toContain('They would be told in the game 30 s before.')
    expect(lab.did).toEqual([])
  })

  test('confirmed it warns, counts down, and stops', async () => {
    const lab = busy()
    const { world, clock } = await openLab([lab.game])
    const stopping = stop(world, { confirm: true })
    await clock.advance(29_000)
    expect(lab.did).toEqual(['say This server will stop in 30 seconds.', 'say 5 seconds left.'])
    const { data, text, progress } = await finish(clock, stopping)
    expect(lab.did.at(-1)).toBe('stop 30')
    expect(data).toMatchObject({ done: true, stopped: true, players: 2, names: ['Ann', 'Bob'], warned: true })
    expect(text).toContain('2 players were online and warned 30 s before.')
    expect(progress[0]).toMatchObject({ progress: 0, total: 30 })
  })

  test('cancelled while players are warned it stops nothing, and tells them', async () => {
    const lab = busy()
    const { world, clock } = await openLab([lab.game])
    const cancelling = new AbortController()
    const stopping = stop(world, { confirm: true }, cancelling.signal)
    await clock.advance(10_000)
    cancelling.abort(new Error('cancelled'))
    expect((await stopping).isError).toBe(true)
    await clock.advance(60_000)
    expect(lab.did).toEqual([
      'say This server will stop in 30 seconds.',
      'say The server will not stop after all.',
    ])
  })

  test.each([
    ['no console', { console: undefined }, {}, 'not warned since the server has no console'],
    ['no wish to warn', {}, { warnSeconds: 0 }, '2 players were online, not warned.'],
    [
      'a console that fails',
      {
        console: {
          kind: 'quake3' as const,
          where: 'console',
          send: async () => [],
          say: () => Promise.reject(silence('console')),
        },
      },
      {},
      'they could not be warned: "no answer within 3 s".',
    ],
  ])('with %s it says so and does not wait', async (_what, parts, args, words) => {
    const lab = busy(parts)
    const { world } = await openLab([lab.game])
    const { data, text } = await stop(world, { confirm: true, ...args })
    expect(data).toMatchObject({ stopped: true, warned: false })
    expect(text).toContain(words)
  })

  test('where nobody knows who plays, that is said', async () => {
    const silent = createLab()
    silent.status = undefined
    const { text, data } = await stop((await openLab([silent.game])).world)
    expect(text).toContain('Who was online is not known, since it did not answer')
    expect(data).not.toHaveProperty('players')
    const unasked = createLab({ query: undefined })
    expect((await stop((await openLab([unasked.game])).world)).text).toContain(
      'it has no query in its settings',
    )
  })

  test('what the backend refuses is a failure in words', async () => {
    const lab = createLab()
    lab.game = {
      ...lab.game,
      backend: { ...lab.game.backend, stop: () => Promise.reject(silence('sock')) },
    }
    const failed = await stop((await openLab([lab.game])).world)
    expect(failed.isError).toBe(true)
    expect(failed.text).toContain('What to do: ')
  })

  test('marks the end as asked for, for the watcher', async () => {
    const lab = createLab()
    const { world, ends } = await openLab([lab.game])
    await stop(world)
    expect(ends.take('atm-10')).toBe(true)
    expect(ends.take('atm-10')).toBe(false)
  })
})

describe('restart_game_server', () => {
  const restart = (world: Awaited<ReturnType<typeof openLab>>['world'], args = {}) =>
    world.call('restart_game_server', { server: 'atm-10', ...args })

  test('refuses while somebody plays; confirmed it warns, restarts and waits for an answer', async () => {
    const lab = createLab()
    lab.status = fakeStatus({ players: 1, names: ['Ann'] })
    const { world, clock } = await openLab([lab.game])
    expect((await restart(world)).text).toContain('It would restart atm-10 with 1 player online.')
    const { data, text } = await finish(clock, restart(world, { confirm: true, warnSeconds: 3 }))
    expect(lab.did).toEqual(['say This server will restart in 3 seconds.', 'restart 30'])
    expect(data).toMatchObject({ done: true, restarted: true, answers: true, warned: true })
    expect(text).toContain(
      'atm-10 was restarted. 1 player was online and warned 3 s before. It answers again after',
    )
  })

  test('one that does not run is started, and nobody is asked', async () => {
    const lab = createLab()
    lab.state = fakeState({ state: 'failed', exitCode: 1, stoppedAt: 5 })
    lab.game = {
      ...lab.game,
      backend: {
        ...lab.game.backend,
        restart: async () => {
          lab.state = fakeState()
        },
      },
    }
    lab.status = fakeStatus({ players: 3 })
    const { world, clock } = await openLab([lab.game])
    const { data, text } = await finish(clock, restart(world))
    expect(data).toMatchObject({ done: true, restarted: true, answers: true })
    expect(text).toContain('It did not run before.')
  })

  test('one that stays silent afterwards is told', async () => {
    const lab = createLab({ startSeconds: 10 })
    lab.status = undefined
    const { world, clock } = await openLab([lab.game])
    const { data, text } = await finish(clock, restart(world))
    expect(data).toMatchObject({ restarted: true, answers: false })
    expect(text).toContain('It runs, but did not answer within')
  })
})
