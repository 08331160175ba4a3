import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Console } from '../game.ts'

/** A game's remote console. */
export const consoleSettings = z.strictObject({
  kind: z.enum(['quake3', 'source', 'minecraft', 'teeworlds']),
  host: z.string().regex(/^[^\s/]{1,253}$/),
  port: z.int().min(1).max(65_535),
  /** Shown in no message. */
  password: z.string().min(1).max(200),
})
export type ConsoleSettings = z.output<typeof consoleSettings>

/** A console; it connects for each command, and not before. */
export function createConsole(settings: ConsoleSettings, _deps: { clock: Clock }): Console {
  const where = `${settings.kind} console at ${settings.host}:${settings.port}`
  const send = async (): Promise<string[]> => {
    throw new UpstreamFailure({
      kind: 'unreachable',
      what: 'Nothing was sent.',
      where,
      why: 'consoles are built elsewhere',
      fix: 'Wait.',
    })
  }
  return { kind: settings.kind, where, send, say: async () => void (await send()) }
}
