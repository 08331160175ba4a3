import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import type { Query } from '../game.ts'
import { explainWire } from './explain.ts'
import { askGamedig, loadGamedig } from './gamedig/query.ts'
import { askMinecraft } from './minecraft/query.ts'
import { askQuake3, toQuake3Port } from './quake3/query.ts'

/** Milliseconds for one query. */
const LIMIT = 3000
const MINECRAFT_PORT = 25_565
/** Types whose servers answer the short status request of the game's own server list. */
const MINECRAFT = /^(minecraft|protocol-minecraft|protocol-minecraftvanilla)$/
const VANILLA = 'protocol-minecraftvanilla'
/** gamedig's type for all editions, for a server that never answered as the Java edition. */
const ANY_MINECRAFT = 'minecraft'

/** Settings of the query for players. */
export const querySettings = z.strictObject({
  /** A type of gamedig, such as "q3a", "minecraft" or "protocol-valve". */
  type: z.string().regex(/^[a-z0-9-]{1,40}$/i, 'a type of gamedig such as "q3a"'),
  /** A name or an address; IPv4 only, except for Minecraft. */
  host: z.string().regex(/^[^\s/]{1,253}$/, 'a host name or an address'),
  /** The port for players, or for queries. Undefined: the game's usual one. */
  port: z.int().min(1).max(65_535).optional(),
  /** True to count bots as players too. */
  countBots: z.boolean().optional(),
  /** Other options that some types need, such as a token, by gamedig's names. No message shows them. */
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
})
export type QuerySettings = z.output<typeof querySettings>

export interface QueryDeps {
  clock: Clock
  /** Milliseconds; default 3 s. */
  limit?: number
  gamedig?: typeof loadGamedig
}

/**
 * Queries Minecraft and the games of Quake 3's family with their own short request, and all others with
 * gamedig, which is loaded at the first query.
 */
export function createQuery(settings: QuerySettings, deps: QueryDeps): Query {
  const { clock, limit = LIMIT, gamedig = loadGamedig } = deps
  const { type, host } = settings
  const quake3Port = toQuake3Port(type, settings.port)
  const port = settings.port ?? quake3Port ?? (MINECRAFT.test(type) ? MINECRAFT_PORT : undefined)
  const where = `${type} at ${host}${port === undefined ? '' : `:${port}`}`
  const spoken = {
    what: 'The query',
    where,
    limit,
    fix: 'Look whether the game runs (get_game_server), and check the type, host and port of its query in the settings.',
  }

  const askAny = async (asType = type, attempts?: number) =>
    askGamedig(
      { ...settings, type: asType, port },
      { where, limit, clock, gamedig: await gamedig(), attempts },
    )
  const usesGamedig = quake3Port === undefined && !MINECRAFT.test(type)
  let isJava = type === VANILLA
  const askOne = async (signal: AbortSignal) => {
    if (quake3Port !== undefined) {
      return await askQuake3({ host, port: quake3Port, countBots: settings.countBots }, clock, signal)
    }
    if (usesGamedig || port === undefined) return await askAny()
    try {
      const status = await askMinecraft(host, port, clock, signal)
      isJava = true
      return status
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (isJava) throw error
      // A Bedrock server does not listen on TCP. If it does not answer either, the error of the Java query
      // says more.
      return await askAny(ANY_MINECRAFT, 1).catch(() => Promise.reject(error))
    }
  }
  return {
    where,
    async ask(signal) {
      try {
        // To load it takes seconds on a small machine, which are not the game's.
        if (usesGamedig) await gamedig()
        return await withLimit(askOne, limit, clock, signal)
      } catch (error) {
        signal?.throwIfAborted()
        throw explainWire(spoken, error)
      }
    },
  }
}
