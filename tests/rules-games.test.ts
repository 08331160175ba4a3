import { expect, test } from 'vitest'
import type { ModelTool } from '../hub/core/model.ts'
import { readCatalogue } from '../hub/model/rules/catalogue.ts'
import { fillArguments } from '../hub/model/rules/fill-arguments.ts'
import { clearBest, matchTools } from '../hub/model/rules/match-tools.ts'
import { games } from '../servers/games/server.ts'
import { systemClock } from '../servers/kit/clock.ts'
import { startWorld } from '../servers/kit/testing/server-world.ts'
import { metrics } from '../servers/metrics/server.ts'

const nothing = { process: { command: '/bin/true' } }
const environment = {
  GAMES_SERVERS: JSON.stringify({ 'atm-10': nothing, quake: nothing }),
  GAMES_DISCOVER: 'false',
}

test('plain sentences reach the tools of the games server, beside those of metrics', async () => {
  const options = { clock: systemClock, environment, watchers: false }
  await using started = await startWorld(games, options)
  await using beside = await startWorld(metrics, { ...options, environment: {} })
  const listed = [...started.listed(), ...beside.listed()].map(
    ({ name, title = name, description = '', inputSchema, annotations }): ModelTool => ({
      name,
      title,
      description,
      inputSchema,
      readOnly: annotations?.readOnlyHint === true,
    }),
  )
  const { tools } = readCatalogue({ tools: listed, messages: [] })
  const plan = (sentence: string) => {
    const match = clearBest(matchTools(sentence, tools))
    if (!match) return [sentence, undefined]
    const { server, command } = fillArguments(sentence, match.tool, match.used).arguments
    return [sentence, match.tool.name, server, ...(command === undefined ? [] : [command])]
  }
  const wanted = [
    ['start the quake server', 'start_game_server', 'quake'],
    ['stop atm-10', 'stop_game_server', 'atm-10'],
    ['restart quake please', 'restart_game_server', 'quake'],
    ['who is playing on atm-10', 'get_player_count', 'atm-10'],
    ['how many players are on quake', 'get_player_count', 'quake'],
    ['is anyone on quake', 'get_player_count', 'quake'],
    ['how many people are online', 'get_player_count', undefined],
    ['is quake running', 'get_game_server', 'quake'],
    ['which game servers are running', 'list_game_servers', undefined],
    ['what is wrong with atm-10', 'diagnose_game_server', 'atm-10'],
    ['why is quake lagging', 'diagnose_game_server', 'quake'],
    ['logs of quake', 'get_game_server_logs', 'quake'],
    ['run the command status on quake', 'run_game_command', 'quake', 'status'],
  ] as const
  expect(wanted.map(([sentence]) => plan(sentence))).toEqual(wanted)
})
