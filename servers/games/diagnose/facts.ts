import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import { toFailure } from '../../kit/failure.ts'
import type { Report } from '../../kit/progress.ts'
import { cleanText } from '../../kit/text.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Backend, BackendState, Game, GameStatus, Query } from '../game.ts'
import { askRunning } from '../upstreams/ask-running.ts'

/** Milliseconds for each check. */
const LIMIT = 6000
export const LOG_LINES = 300

/** The result of one check, or the reason of its failure. */
export type Checked<Value> =
  | { ok: true; value: Value }
  /** `settings`: true if the check cannot work with these settings, whatever the game does. */
  | { ok: false; why: string; settings: boolean }

/** Load of the machine that this server runs on. */
export interface HostLoad {
  /** Load over the last minute; 0 if the system reports none. */
  load: number
  cores: number
  totalBytes: number
  availableBytes: number
}

export interface Facts {
  game: Game
  /** Unix milliseconds. */
  now: number
  state: Checked<BackendState>
  /** Undefined if the game has no query. */
  status: Checked<GameStatus> | undefined
  log: Checked<string[]>
  use: Checked<Awaited<ReturnType<Backend['use']>>>
  /** Undefined if the game runs on other machines. */
  host: HostLoad | undefined
}

export interface LookDeps {
  clock: Clock
  host: () => HostLoad
}

/** Runs all checks at once; a failed one is part of the result. Rejects only when the signal aborts. */
export async function readFacts(
  game: Game,
  { clock, host }: LookDeps,
  signal: AbortSignal,
  report: Report,
): Promise<Facts> {
  const { backend, query } = game
  const total = query ? 4 : 3
  let done = 0
  const check = async <Value>(what: string, run: (signal: AbortSignal) => Promise<Value>) => {
    const checked = await tryCheck(clock, what, run, signal)
    report(++done, total, `${what} looked at`)
    return checked
  }
  const [state, status, log, use] = await Promise.all([
    check('state', within => backend.state(within)),
    query && check('query', within => askGame(game, query, clock, within)),
    check('log', within => backend.logs(LOG_LINES, within)),
    check('use', within => backend.use(within)),
  ])
  signal.throwIfAborted()
  return {
    game,
    now: clock.now(),
    state,
    status,
    log,
    use,
    host: backend.kind === 'kubernetes' ? undefined : host(),
  }
}

async function askGame(game: Game, query: Query, clock: Clock, signal: AbortSignal): Promise<GameStatus> {
  const status = await askRunning(game, query, clock, signal)
  if (!status) throw new Error('it does not run')
  return status
}

async function tryCheck<Value>(
  clock: Clock,
  what: string,
  run: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<Checked<Value>> {
  try {
    return { ok: true, value: await withLimit(run, LIMIT, clock, signal) }
  } catch (error) {
    const { where, why } = toFailure(error, what)
    const settings =
      error instanceof UpstreamFailure && (error.kind === 'refused' || error.kind === 'unauthorized')
    return { ok: false, why: cleanText(`${where}: ${why}`, 300), settings }
  }
}

export function readHostLoad(): HostLoad {
  return {
    load: loadavg()[0] ?? 0,
    cores: availableParallelism(),
    totalBytes: totalmem(),
    availableBytes: freemem(),
  }
}
