import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Query } from '../game.ts'

/** How a game is asked who plays. */
export const querySettings = z.strictObject({
  /** The protocol, as gamedig calls it: "q3a", "minecraft". */
  type: z.string().regex(/^[a-z0-9-]{1,40}$/i),
  host: z.string().regex(/^[^\s/]{1,253}$/),
  port: z.int().min(1).max(65_535),
})
export type QuerySettings = z.output<typeof querySettings>

/** A way to ask; nothing is sent and nothing heavy loaded before the first question. */
export function createQuery(settings: QuerySettings, _deps: { clock: Clock }): Query {
  const where = `${settings.type} at ${settings.host}:${settings.port}`
  return {
    where,
    ask: async () => {
      throw new UpstreamFailure({
        kind: 'unreachable',
        what: 'The game was not asked.',
        where,
        why: 'queries are built elsewhere',
        fix: 'Wait.',
      })
    },
  }
}
