import { describe, expect, test } from 'vitest'
import { createEventLog } from '../../kit/events.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createFakeEngine, type FakeEngine, fakeContainer } from '../../kit/testing/fake-engine.ts'
import { runWatcher } from '../../kit/watch.ts'
import { readGamesSettings } from '../config.ts'
import type { Backend, BackendState } from '../game.ts'
import { createGames } from '../games.ts'
import { createRequestedEnds, openRequestedStops } from '../requested-ends.ts'
import { createFakeBackend, createFakeGame, fakeState } from '../testing/fake-game.ts'
import { createContainerCrashFollower } from './container-crash.ts'
import { createCrashCounts, createCrashWatcher, decideCrash } from './crash.ts'

const up = fakeState()
const down = (parts: Partial<BackendState> = {}) => fakeState({ state: 'stopped', ...parts })
const failed = (parts: Partial<BackendState> = {}) =>
  fakeState({ state: 'failed', exitCode: 1, stoppedAt: 10, ...parts })

test.each<[Backend['kind'], BackendState, BackendState, object | undefined]>([
  ['systemd', up, failed(), { exitCode: 1, oom: false }],
  ['systemd', up, failed({ oom: true, exitCode: 137 }), { exitCode: 137, oom: true }],
  ['systemd', down(), failed(), { exitCode: 1 }],
  ['systemd', failed(), failed(), undefined],
  ['systemd', failed(), failed({ stoppedAt: 20 }), { exitCode: 1 }],
  ['systemd', up, down({ exitCode: 0 }), undefined],
  ['systemd', up, fakeState({ restarts: 1 }), { exitCode: undefined }],
  ['systemd', fakeState({ restarts: 4 }), fakeState({ restarts: 0 }), undefined],
  ['kubernetes', fakeState({ state: 'starting' }), failed({ restarts: 0 }), undefined],
  ['kubernetes', up, failed({ restarts: 1, exitCode: undefined }), { exitCode: undefined }],
])('%s from %j to %j', (kind, before, now, crash) => {
  const found = decideCrash(kind, before, now)
  if (crash === undefined) expect(found).toBeUndefined()
  else expect(found).toMatchObject(crash)
})

describe('a backend that is looked at', () => {
  function open(kind: Backend['kind'] = 'systemd') {
    const clock = createFakeClock()
    const events = createEventLog('games', 'test', clock)
    const ends = createRequestedEnds(clock)
    const now: { state: BackendState } = { state: failed() }
    const game = createFakeGame({ backend: createFakeBackend({ kind, state: async () => now.state }) })
    const games = { list: async () => [game] } as never
    const watcher = createCrashWatcher(game, {
      games,
      ends,
      emit: events.emit,
      clock,
      countCrash: createCrashCounts(clock),
    })
    const raised = () => events.read(0).events.map(({ key, payload }) => ({ key, ...payload }))
    return { clock, ends, now, watcher, raised }
  }

  test('raises nothing old, each crash once, and the next one again', async () => {
    const { now, watcher, raised } = open()
    const see = async (state: BackendState) => {
      now.state = state
      await watcher?.poll()
    }
    await see(failed())
    await see(failed())
    expect(raised()).toEqual([])
    await see(up)
    await see(failed({ stoppedAt: 20 }))
    await see(failed({ stoppedAt: 20 }))
    await see(up)
    await see(failed({ stoppedAt: 30, oom: true }))
    const crash = { key: 'server_crash:atm-10', server: 'atm-10', exitCode: 1 }
    expect(raised()).toEqual([crash, { ...crash, oom: true }])
  })

  test('a restart loop says that it is one, with the count, and no longer once it is over', async () => {
    const { clock, now, watcher, raised } = open()
    const crash = async (after: number) => {
      await clock.advance(after)
      now.state = up
      await watcher?.poll()
      now.state = failed({ stoppedAt: clock.now() })
      await watcher?.poll()
      const { loop, count } = raised().at(-1) as { loop?: true; count?: number }
      return [loop, count]
    }
    await crash(1)
    expect(await crash(5_000)).toEqual([undefined, undefined])
    expect(await crash(5_000)).toEqual([true, 3])
    expect(await crash(5_000)).toEqual([true, 4])
    expect(await crash(11 * 60_000)).toEqual([undefined, undefined])
  })

  test('an end that a tool asked for is no crash, and excuses only that one', async () => {
    const { clock, ends, now, watcher, raised } = open()
    now.state = up
    await watcher?.poll()
    await ends.during('atm-10', async () => {
      now.state = failed()
    })
    await watcher?.poll()
    now.state = up
    await watcher?.poll()
    now.state = failed({ stoppedAt: 20 })
    await watcher?.poll()
    expect(raised()).toHaveLength(1)
    now.state = up
    await watcher?.poll()
    await ends.during('atm-10', async () => undefined)
    await clock.advance(60_000)
    now.state = failed({ stoppedAt: 99_000 })
    await watcher?.poll()
    expect(raised()).toHaveLength(2)
  })

  test('containers are not looked at: their engine pushes', () => {
    expect(open('docker').watcher).toBeUndefined()
  })
})

const BOX = { server: 'declared', container: 'box' }

describe('an engine that pushes', () => {
  async function open(says = 'Docker 20.10.24', isThere = true) {
    const clock = createFakeClock()
    const engine = createFakeEngine()
    engine.says = says
    const events = createEventLog('games', 'test', clock)
    const ends = createRequestedEnds(clock)
    const settings = await readGamesSettings({ GAMES_SERVERS: '{"declared": {"docker": "box"}}' })
    const games = createGames({
      clock,
      settings,
      engines: () => [engine],
      env: {},
      stops: openRequestedStops(undefined, () => undefined),
      cluster: () => {
        throw new Error('no cluster is asked here')
      },
    })
    const found: { engine: FakeEngine | undefined } = { engine: isThere ? engine : undefined }
    const follower = createContainerCrashFollower('docker', () => found.engine, {
      games,
      ends,
      emit: events.emit,
      clock,
      countCrash: createCrashCounts(clock),
    })
    const logged: string[] = []
    const stop = runWatcher(follower, clock, (_level, event) => void logged.push(event))
    const raised = () => events.read(0).events.map(({ payload }) => payload)
    return { clock, engine, ends, raised, stop, found, logged }
  }
  const die = (exitCode: number, name = 'box') => ({ kind: 'die' as const, name, exitCode })

  test.each([
    ['an exit code', [die(3)], [{ ...BOX, exitCode: 3 }]],
    ['a clean end', [die(0)], []],
    ['an end by SIGTERM', [die(143)], []],
    ['a signal before it', [{ kind: 'kill' as const, name: 'box' }, die(137)], []],
    ['a kill that nobody told of', [die(137)], [{ ...BOX, exitCode: 137 }]],
    [
      'too much memory',
      [{ kind: 'oom' as const, name: 'box' }, die(137)],
      [{ ...BOX, exitCode: 137, oom: true }],
    ],
    ['another container', [die(3, 'other')], []],
    [
      'a signal to an earlier life',
      [{ kind: 'kill' as const, name: 'box' }, { kind: 'start' as const, name: 'box' }, die(4)],
      [{ ...BOX, exitCode: 4 }],
    ],
  ])('%s', async (_what, told, expected) => {
    const { clock, engine, raised, stop } = await open()
    await clock.advance(0)
    for (const event of told) engine.happen(event)
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
    expect(raised()).toEqual(expected)
    stop()
  })

  test('Podman tells no signals, so a kill alone is no crash there', async () => {
    const { clock, engine, raised, stop } = await open('Podman 4.3.1')
    await clock.advance(0)
    engine.happen(die(137))
    engine.happen(die(3))
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
    expect(raised()).toEqual([{ ...BOX, exitCode: 3 }])
    stop()
  })

  test('a stop by a tool is no crash, whatever the exit code', async () => {
    const { clock, engine, ends, raised, stop } = await open('Podman 4.3.1')
    await clock.advance(0)
    await ends.during('declared', async () => engine.happen(die(1)))
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
    expect(raised()).toEqual([])
    engine.happen(die(1))
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
    expect(raised()).toEqual([{ ...BOX, exitCode: 1 }])
    stop()
  })

  test('what crashed while the stream was broken is told afterwards, once', async () => {
    const { clock, engine, raised, stop, logged } = await open()
    engine.hold(fakeContainer('box'))
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
    engine.breakOff()
    await clock.advance(0)
    engine.hold(fakeContainer('box', { state: 'exited', exitCode: 5, finishedAt: 7 }))
    await clock.advance(10_000)
    expect(raised()).toEqual([{ server: 'declared', exitCode: 5 }])
    engine.breakOff()
    await clock.advance(10_000)
    expect(raised()).toHaveLength(1)
    expect(logged).toEqual([
      'watcher lost its connection, it goes on trying',
      'watcher works again',
      'watcher lost its connection, it goes on trying',
      'watcher works again',
    ])
    stop()
  })

  test('an engine that is not there yet is waited for in silence', async () => {
    const { clock, engine, raised, stop, found, logged } = await open(undefined, false)
    await clock.advance(60_000)
    expect(logged).toEqual([])
    found.engine = engine
    await clock.advance(30_000)
    engine.happen(die(3))
    for (let turn = 0; turn < 5; turn++) await clock.advance(0)
    expect(raised()).toEqual([{ ...BOX, exitCode: 3 }])
    stop()
  })
})
