import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { HostLoad } from '../diagnose/facts.ts'
import type { Backend, BackendState, Game, GameStatus } from '../game.ts'
import { createFakeBackend, createFakeGame, fakeState, fakeStatus, silence } from '../testing/fake-game.ts'
import { createFakeGames, startToolWorld } from '../testing/tool-world.ts'
import { diagnoseGameServer } from './diagnose-game-server.ts'

const GIB = 1024 ** 3
const CALM: HostLoad = { load: 0.5, cores: 8, totalBytes: 32 * GIB, availableBytes: 16 * GIB }
const MINUTE = 60_000
const NOW = 1_000_000

interface Given {
  state?: Partial<BackendState>
  status?: Partial<GameStatus> | UpstreamFailure | undefined
  log?: string[]
  use?: { cpuPercent: number; memoryBytes: number }
  host?: Partial<HostLoad>
  backend?: Partial<Backend>
  game?: Partial<Game>
}

async function diagnose(given: Given) {
  const { state = {}, status = {}, log = [], use, host = {}, backend = {}, game = {} } = given
  const clock = createFakeClock(NOW)
  const one = createFakeGame({
    query: {
      where: 'q3a at 127.0.0.1:27960',
      ask: async () => {
        if (status instanceof UpstreamFailure) throw status
        return fakeStatus(status)
      },
    },
    backend: createFakeBackend({
      state: async () => fakeState({ startedAt: NOW - 60 * MINUTE, ...state }),
      logs: async () => log,
      use: async () => use,
      ...backend,
    }),
    ...game,
  })
  const games = createFakeGames([one])
  await using world = await startToolWorld(
    () => [diagnoseGameServer({ games, clock, host: () => ({ ...CALM, ...host }) })],
    clock,
  )
  const called = world.call('diagnose_game_server', { server: 'atm-10' })
  await clock.advance(10_000)
  const { data, text, progress, isError } = await called
  if (isError) throw new Error(text)
  const { verdict, findings, seen, notSeen } = data as {
    verdict: string
    findings: { finding: string; evidence: string[]; whatToDo: string }[]
    seen: Record<string, unknown>
    notSeen: string[]
  }
  return { verdict, findings, seen, notSeen, text, progress, first: findings[0]?.finding }
}

test('a server that is well has nothing wrong, and says what was seen', async () => {
  const { verdict, findings, seen, text, progress } = await diagnose({
    status: { players: 3 },
    use: { cpuPercent: 31.44, memoryBytes: 4 * GIB },
  })
  expect({ verdict, findings }).toEqual({ verdict: 'ok', findings: [] })
  expect(seen).toEqual({
    state: 'running, Up',
    upSeconds: 3600,
    restarts: 0,
    players: 3,
    maxPlayers: 20,
    pingMs: 12,
    cpuPercent: 31.4,
    memoryBytes: 4 * GIB,
    hostLoad: 0.5,
    hostCores: 8,
    hostMemoryAvailableBytes: 16 * GIB,
  })
  expect(text).toMatch(
    /^All the Mods 10: nothing wrong was found\.\nSeen: running, Up; up for 1 h 0 min; 3 players of at most 20; answers in 12 ms; CPU 31\.4 % of one core; memory 4 GiB; machine load 0\.5 on 8 cores\./,
  )
  expect(progress.length).toBeGreaterThan(0)
})

describe('the likeliest comes first', () => {
  test.each<[string, Given, string, string]>([
    [
      'missing',
      { state: { state: 'missing' } },
      'down',
      'There is no container atm-10 of /var/run/docker.sock.',
    ],
    [
      'out of memory',
      { state: { state: 'stopped', oom: true, exitCode: 137, stoppedAt: NOW - MINUTE } },
      'down',
      'The system ended it for using too much memory.',
    ],
    ['crashed', { state: { state: 'failed', exitCode: 1, stoppedAt: NOW } }, 'down', 'It crashed.'],
    ['stopped', { state: { state: 'stopped', exitCode: 0 } }, 'down', 'It is stopped.'],
    [
      'starting over and over',
      { state: { restarts: 7, startedAt: NOW - 5000 }, status: silence() },
      'trouble',
      'It keeps ending and is started again and again.',
    ],
    ['starting', { state: { startedAt: NOW - 5000 }, status: silence() }, 'trouble', 'It is still starting.'],
    ['silent', { status: silence() }, 'trouble', 'It runs but does not answer.'],
    [
      'asked in a wrong way',
      {
        status: new UpstreamFailure({
          kind: 'refused',
          what: 'w',
          where: 'q',
          why: 'no such type',
          fix: 'f',
        }),
      },
      'trouble',
      'Its query cannot work as it is set up.',
    ],
    ['unhealthy', { state: { health: 'unhealthy' } }, 'trouble', 'Its own health check fails.'],
    ['busy', { use: { cpuPercent: 103, memoryBytes: GIB } }, 'trouble', 'It uses all that one core can do.'],
    ['crowded', { host: { load: 14 } }, 'trouble', 'The machine has more to do than its cores can.'],
    ['short of memory', { host: { availableBytes: GIB } }, 'trouble', 'The machine is short of memory.'],
    ['slow', { status: { ping: 400 } }, 'trouble', 'It answers slowly.'],
    ['full', { status: { players: 20 } }, 'trouble', 'It is full: nobody else can join.'],
    [
      'without a query',
      { game: { query: undefined } },
      'ok',
      'Nobody can ask the game itself: it has no query.',
    ],
  ])('%s', async (_name, given, verdict, finding) => {
    const found = await diagnose(given)
    expect([found.verdict, found.first]).toEqual([verdict, finding])
  })

  test('a crash stands before what its log and the machine say', async () => {
    const { findings } = await diagnose({
      state: { state: 'failed', exitCode: 1 },
      log: ['[12:00:00] java.lang.OutOfMemoryError: Java heap space'],
      host: { load: 40 },
      status: silence(),
    })
    expect(findings.map(({ finding }) => finding)).toEqual([
      'It crashed.',
      'It ran out of memory.',
      'The machine has more to do than its cores can.',
    ])
  })
})

describe('the log', () => {
  test.each([
    ['You need to agree to the EULA in order to run the server.', 'license'],
    ['java.lang.OutOfMemoryError: Java heap space', 'out of memory'],
    ['**** FAILED TO BIND TO PORT!', 'port is taken'],
    ["ERROR: Couldn't bind to v4 ip: Address already in use", 'port is taken'],
    ['write error: No space left on device', 'disk is full'],
    ['Missing or unsupported mandatory dependencies:', 'mods'],
    ["Couldn't load default.cfg - I am missing essential files", 'file that it needs'],
    ['Error: Unable to access jarfile server.jar', 'file that it needs'],
    ['java.nio.file.AccessDeniedException: ./world', 'own files'],
    ['Segmentation fault (core dumped)', 'program itself broke'],
    ["Can't keep up! Is the server overloaded? Running 2034ms or 40 ticks behind", 'cannot keep up'],
    ['Exception in thread "main" java.lang.NullPointerException', 'reports errors'],
  ])('%s', async (line, finding) => {
    const { findings, text } = await diagnose({ log: ['fine', line, 'fine'], status: silence() })
    expect(findings.map(found => found.finding).join(' ')).toContain(finding)
    expect(text).toContain('1 line of its last 3 in the log')
  })

  test('old lines of one that answers count for less than that it is full', async () => {
    const { verdict, findings } = await diagnose({ log: ["can't keep up"], status: { players: 20 } })
    expect(verdict).toBe('trouble')
    expect(findings.map(({ finding }) => finding)).toEqual([
      'It is full: nobody else can join.',
      'It cannot keep up: its world runs slower than it should.',
    ])
  })

  test('a line of others stays a line between quotation marks', async () => {
    const { text } = await diagnose({ log: ['fatal: "ignore this"\u001b[31m {and} that'] })
    expect(text).toContain(`"fatal: 'ignore this' [31m {and} that"`)
  })
})

describe('what cannot be looked at is told, and keeps nothing else from being found', () => {
  test('all of it', async () => {
    const fail = () => Promise.reject(new Error('no engine'))
    const { verdict, notSeen, text } = await diagnose({
      status: silence(),
      backend: { state: fail, logs: fail, use: fail },
    })
    expect(verdict).toBe('trouble')
    expect(notSeen).toEqual([
      'Its state: state: no engine',
      'Who plays: q3a at 127.0.0.1:27960: no answer within 3 s',
      'Its log: log: no engine',
      'What it uses: use: no engine',
    ])
    expect(text).toContain('Not seen:\n- Its state: state: no engine')
  })

  test('a backend that hangs is given up', async () => {
    const { notSeen } = await diagnose({ backend: { use: () => new Promise(() => undefined) } })
    expect(notSeen).toEqual(['What it uses: use: no answer within 6 s'])
  })

  test('without anything there is no verdict', async () => {
    const fail = () => Promise.reject(new Error('no engine'))
    const { verdict } = await diagnose({ game: { query: undefined }, backend: { state: fail } })
    expect(verdict).toBe('unknown')
  })
})

test('the load of this machine says nothing of a game in a cluster', async () => {
  const { seen, findings } = await diagnose({ backend: { kind: 'kubernetes' }, host: { load: 99 } })
  expect(seen).not.toHaveProperty('hostLoad')
  expect(findings).toEqual([])
})
