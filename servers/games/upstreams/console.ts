import { z } from 'zod'
import { createRedact } from '../../../schemas/redact.ts'
import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import { cleanLines, cleanText } from '../../kit/text.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import { decideCommand } from '../allowed-commands.ts'
import type { Console } from '../game.ts'
import type { Ask } from './exchange.ts'
import { explainWire } from './explain.ts'
import { withoutSectionColors } from './names.ts'
import { askQuake3 } from './quake3/console.ts'
import { askSource } from './source/console.ts'
import { askTeeworlds } from './teeworlds/console.ts'

/** Milliseconds for one command. */
const LIMIT = 5000
const MAX_LINES = 200
const MAX_SAID = 200

const KINDS = ['quake3', 'source', 'minecraft', 'teeworlds'] as const satisfies readonly Console['kind'][]

/** A game's remote console. */
export const consoleSettings = z.strictObject({
  kind: z.enum(KINDS),
  host: z.string().regex(/^[^\s/]{1,253}$/, 'a host name or an address'),
  port: z.int().min(1).max(65_535),
  /** Password that no message shows. */
  password: z.string().regex(/^\P{Cc}{1,200}$/u, 'a password of up to 200 characters'),
})
export type ConsoleSettings = z.output<typeof consoleSettings>

export interface ConsoleDeps {
  clock: Clock
  /** Milliseconds; default 5 s. */
  limit?: number
}

const ASKS: Readonly<Record<Console['kind'], Ask>> = {
  quake3: askQuake3,
  source: askSource,
  minecraft: exchange => askSource(exchange).then(withoutSectionColors),
  teeworlds: askTeeworlds,
}

/** Creates a console that connects anew for each command. */
export function createConsole(settings: ConsoleSettings, { clock, limit = LIMIT }: ConsoleDeps): Console {
  const { kind, host, port, password } = settings
  const where = `${kind} console at ${host}:${port}`
  const redact = createRedact([password])
  const spoken = {
    what: 'The console command',
    where,
    limit,
    fix: 'Look whether the game runs (get_game_server) and whether its console is switched on, and check host and port in the settings.',
  }

  const send = async (given: string, signal?: AbortSignal) => {
    const verdict = decideCommand(given, kind, ['*'])
    if (!verdict.allowed) throw notOneCommand(where, verdict.why)
    const exchange = { host, port, password, command: verdict.command, where, clock }
    try {
      const text = await withLimit(
        within => ASKS[kind]({ ...exchange, signal: within }),
        limit,
        clock,
        signal,
      )
      const lines = redact(cleanLines(text, { lines: MAX_LINES })).split('\n')
      return lines.length === 1 && lines[0] === '' ? [] : lines
    } catch (error) {
      signal?.throwIfAborted()
      throw explainWire(spoken, error)
    }
  }
  return {
    kind,
    where,
    send,
    async say(text, signal) {
      // Without these signs no console finds a second command in the line.
      const line = cleanText(text.replaceAll(';', ',').replaceAll('"', "'"), MAX_SAID)
      await send(`say ${line}`, signal)
    },
  }
}

function notOneCommand(where: string, why: string): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'refused',
    what: 'The command was not sent.',
    where,
    why,
    fix: 'Send one command on one line.',
  })
}
