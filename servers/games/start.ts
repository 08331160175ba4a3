import { openEngine } from '../kit/docker/docker.ts'
import { findEngines } from '../kit/docker/find-engines.ts'
import { openClusters } from '../kit/kubernetes/find-clusters.ts'
import type { ServerDeps, StartedServer } from '../kit/server.ts'
import { readGamesSettings } from './config.ts'
import { createGames } from './games.ts'
import { checkUpstreams } from './health.ts'
import { createRequestedEnds, openRequestedStops } from './requested-ends.ts'
import { diagnoseGameServer } from './tools/diagnose-game-server.ts'
import { getGameServer } from './tools/get-game-server.ts'
import { getGameServerLogs } from './tools/get-game-server-logs.ts'
import { getPlayerCount } from './tools/get-player-count.ts'
import { listGameServers } from './tools/list-game-servers.ts'
import { restartGameServer } from './tools/restart-game-server.ts'
import { runGameCommand } from './tools/run-game-command.ts'
import { startGameServer } from './tools/start-game-server.ts'
import { stopGameServer } from './tools/stop-game-server.ts'
import { toChildEnvironment } from './upstreams/process/child-environment.ts'
import { createCrashWatchers } from './watchers/container-crash.ts'
import { createCrashCounts } from './watchers/crash.ts'
import { createPlayersWatcher } from './watchers/players.ts'

/**
 * Milliseconds until the watchers start: they load clients of engines and games, and this server's client
 * should get its tools before.
 */
const HEAD_START = 500

/** Starts the server with its settings. Throws SettingsError if they are wrong. */
export async function start({ clock, environment, emit, log }: ServerDeps): Promise<StartedServer> {
  const settings = await readGamesSettings(environment)
  const engines = () => findEngines(environment).map(found => openEngine({ ...found, clock }))
  const env = toChildEnvironment(environment)
  const stops = openRequestedStops(settings.stopsFile, log)
  const deps = { clock, settings, engines, env, stops, cluster: openClusters(environment, clock).of }
  const registry = createGames(deps)
  const ends = createRequestedEnds(clock)
  return {
    tools: [
      listGameServers({ games: registry, clock }),
      getGameServer({ games: registry, clock }),
      startGameServer({ games: registry, clock }),
      stopGameServer({ games: registry, ends, clock }),
      restartGameServer({ games: registry, ends, clock }),
      getGameServerLogs({ games: registry }),
      getPlayerCount({ games: registry, clock }),
      runGameCommand({ games: registry }),
      diagnoseGameServer({ games: registry, clock }),
    ],
    watchers: [
      createPlayersWatcher({ games: registry, emit, clock, log, every: settings.playersInterval }),
      ...createCrashWatchers(engines, {
        games: registry,
        ends,
        emit,
        clock,
        countCrash: createCrashCounts(clock),
      }),
    ].map(watcher => ({ ...watcher, startAfter: HEAD_START })),
    health: () => checkUpstreams(deps),
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  }
}
