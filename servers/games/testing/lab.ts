import { createFakeClock, type FakeClock } from '../../kit/testing/fake-clock.ts'
import type { Called } from '../../kit/testing/server-world.ts'
import type { BackendState, Game, GameStatus } from '../game.ts'
import type { Games } from '../games.ts'
import { createRequestedEnds } from '../requested-ends.ts'
import { getGameServer } from '../tools/get-game-server.ts'
import { getGameServerLogs } from '../tools/get-game-server-logs.ts'
import { listGameServers } from '../tools/list-game-servers.ts'
import { restartGameServer } from '../tools/restart-game-server.ts'
import { startGameServer } from '../tools/start-game-server.ts'
import { stopGameServer } from '../tools/stop-game-server.ts'
import { createFakeBackend, createFakeGame, fakeState, fakeStatus, silence } from './fake-game.ts'
import { createFakeGames, startToolWorld } from './tool-world.ts'

export const QUERY = 'q3a at 127.0.0.1:27960'
export const STOPPED = fakeState({ state: 'stopped', startedAt: undefined, stoppedAt: 1 })

/** A game that the test controls. */
export interface Lab {
  state: BackendState
  /** Undefined makes it not answer. */
  status: GameStatus | undefined
  /** Commands to its backend and texts to its players. */
  did: string[]
  game: Game
}

/** Creates a running game without players that has all parts. */
export function createLab(parts: Partial<Game> = {}): Lab {
  const lab: Lab = {
    state: fakeState(),
    status: fakeStatus(),
    did: [],
    game: createFakeGame({
      title: 'atm-10',
      query: {
        where: QUERY,
        ask: async () => lab.status ?? Promise.reject(silence()),
      },
      console: {
        kind: 'quake3',
        where: 'console',
        send: async () => [],
        say: async text => void lab.did.push(`say ${text}`),
      },
      backend: createFakeBackend({
        state: async () => lab.state,
        async start() {
          if (lab.state.state === 'running') return false
          lab.did.push('start')
          lab.state = fakeState({ startedAt: 1_000_000 })
          return true
        },
        async stop(grace) {
          lab.did.push(`stop ${grace}`)
          lab.state = STOPPED
          return true
        },
        restart: async grace => void lab.did.push(`restart ${grace}`),
        logs: async lines => ['one', 'Two', 'three two'].slice(-lines),
        use: async () => ({ cpuPercent: 41.26, memoryBytes: 3 * 2 ** 30 }),
      }),
      ...parts,
    }),
  }
  return lab
}

/** Starts the tools that list, start and end game servers, over these games. */
export async function openLab(all: readonly Game[], problems: string[] = [], clock = createFakeClock()) {
  const fakes = createFakeGames(all)
  const games = { ...fakes, find: async () => ({ games: [...all], problems }) } as Games
  const ends = createRequestedEnds(clock)
  const world = await startToolWorld(
    () => [
      listGameServers({ games, clock }),
      getGameServer({ games, clock }),
      getGameServerLogs({ games }),
      startGameServer({ games, clock }),
      stopGameServer({ games, ends, clock }),
      restartGameServer({ games, ends, clock }),
    ],
    clock,
  )
  return { world, clock, ends }
}

/** Resolves as the call does, and advances the clock as far as needed. */
export async function finish(clock: FakeClock, calling: Promise<Called>): Promise<Called> {
  let called: Called | undefined
  const done = calling.then(result => {
    called = result
  })
  for (let step = 0; step < 2000 && called === undefined; step++) await clock.advance(1000)
  await done
  return await calling
}
