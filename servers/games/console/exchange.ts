import type { Clock } from '../../kit/clock.ts'

/** One command on its way to a console. */
export interface Exchange {
  host: string
  port: number
  password: string
  /** One line, checked before. */
  command: string
  /** For messages. */
  where: string
  clock: Clock
  signal: AbortSignal
}

/** Rejects with UpstreamFailure, as the socket does, or with the signal's reason. */
export type Ask = (exchange: Exchange) => Promise<string>
