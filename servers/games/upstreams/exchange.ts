import type { Clock } from '../../kit/clock.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'

/** One command and its console. */
export interface Exchange {
  host: string
  port: number
  password: string
  /** One line that was checked before. */
  command: string
  /** The console's name in messages. */
  where: string
  clock: Clock
  signal: AbortSignal
}

/**
 * Sends a command and returns the answer. Rejects with UpstreamFailure, as the socket does, or with the
 * signal's reason.
 */
export type Ask = (exchange: Exchange) => Promise<string>

/**
 * Encodes a text with one byte per character, as old games expect. Other characters become a question mark:
 * cut to a byte, "Ļ" (U+013B) would turn into a semicolon and begin a second command.
 */
export function toLatin1(text: string): Buffer {
  const composed = text.normalize('NFC').replace(/[^\u0020-\u007e\u00a0-\u00ff]/gu, '?')
  return Buffer.from(composed, 'latin1')
}

/** Returns the failure of a password that the console refused. */
export function wrongPassword(where: string, why = 'the game says that it is wrong'): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'unauthorized',
    what: 'The console did not accept the password; nothing was sent.',
    where,
    why,
    fix: "Set the console's password in the settings to the one in the game's own configuration.",
  })
}
