import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Backend, BackendState, Game, GameStatus } from '../game.ts'

/** Creates a game server as the test defines it; its parts can be replaced one by one. */
export function createFakeGame(parts: Partial<Game> = {}): Game {
  return {
    name: 'atm-10',
    title: 'All the Mods 10',
    backend: createFakeBackend(),
    query: undefined,
    console: undefined,
    commands: [],
    access: 'full',
    startSeconds: 120,
    stopSeconds: 30,
    ...parts,
  }
}

export function fakeState(parts: Partial<BackendState> = {}): BackendState {
  return {
    state: 'running',
    detail: 'Up',
    startedAt: 1_000_000 - 3_600_000,
    stoppedAt: undefined,
    exitCode: undefined,
    oom: false,
    restarts: 0,
    health: undefined,
    ...parts,
  }
}

export function createFakeBackend(parts: Partial<Backend> = {}): Backend {
  return {
    kind: 'docker',
    where: 'container atm-10 of /var/run/docker.sock',
    state: async () => fakeState(),
    start: async () => false,
    stop: async () => false,
    restart: async () => undefined,
    logs: async () => [],
    use: async () => undefined,
    ...parts,
  }
}

export function fakeStatus(parts: Partial<GameStatus> = {}): GameStatus {
  return {
    name: 'Lab',
    map: undefined,
    version: undefined,
    players: 0,
    maxPlayers: 20,
    bots: 0,
    names: [],
    ping: 12,
    ...parts,
  }
}

export function silence(where = 'q3a at 127.0.0.1:27960'): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'timeout',
    what: 'The query failed.',
    where,
    why: 'no answer within 3 s',
    fix: 'Look whether the game runs.',
    transient: true,
  })
}
