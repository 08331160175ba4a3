import type { Clock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { type ServerWorld, startWorld } from '../../kit/testing/server-world.ts'
import type { Tool } from '../../kit/tool.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'

/** Creates a registry of exactly these games. */
export function createFakeGames(all: readonly Game[]): Pick<Games, 'declared' | 'list' | 'pick'> {
  return {
    declared: all,
    list: async () => [...all],
    async pick(name) {
      const game = all.find(one => one.name === name)
      if (game) return game
      throw new ToolFailure({
        what: 'There is no such game.',
        where: 'server',
        why: 'a test',
        fix: 'Name another.',
      })
    },
  }
}

/** Starts some tools of the games server on fakes. */
export function startToolWorld(
  tools: (deps: { emit: Emit; clock: Clock }) => Tool[],
  clock: Clock,
): Promise<ServerWorld> {
  const definition = {
    name: 'games',
    version: '1.0.0',
    title: 'Games',
    instructions: 'A test.',
    start: async ({ emit }: { emit: Emit }) => ({
      tools: tools({ emit, clock }),
      watchers: [],
      [Symbol.asyncDispose]: async () => undefined,
    }),
  }
  return startWorld(definition, { clock })
}
