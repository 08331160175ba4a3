import type { Clock } from '../../kit/clock.ts'

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
