import type { Client, ClientConfig } from 'pg'
import { sleep, systemClock } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import { connectPrimary, toShownAddress } from './postgres-address.ts'

/** Key of the lock, the same for every hub. */
const KEY = 7_363_251
const LOCK_WAIT_MS = 8_000
const TRY_AGAIN_MS = 100

/** Has PostgreSQL notice within half a minute that the machine of the hub is gone, and free the lock. */
const KEEP_ALIVE =
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3'

/** The lock of a database, on a connection of its own. Disposing frees it. */
export interface DatabaseLock extends AsyncDisposable {
  /** How others connect to the same server. */
  readonly config: ClientConfig
  /** Returns why the lock is lost; undefined while it is held. */
  findLoss(): string | undefined
  /** Gives the lock up, because of an error after which the hub does not know what is stored. */
  lose(error: unknown): void
}

/**
 * Makes this process the one hub of a database: PostgreSQL frees the lock when the connection ends. Waits for a
 * predecessor that is ending. `onLost` is called once if the connection ends by itself. Throws `conflict`.
 */
export async function lockDatabase(url: string, onLost: (why: string) => void): Promise<DatabaseLock> {
  const { client, config } = await connectPrimary(url)
  let loss: string | undefined
  let isEnding = false
  const lose = (error?: unknown) => {
    if (isEnding || loss !== undefined) return
    const cause = error === undefined ? '' : `: ${describeError(error)}`
    loss = `The hub lost its connection to PostgreSQL${cause}. Another hub may work on the store from now on, so this one stores nothing any more and ends.`
    onLost(loss)
  }
  const end = async () => {
    isEnding = true
    await client.end()
  }
  client.on('error', lose)
  client.on('end', () => lose())
  try {
    await client.query(KEEP_ALIVE)
    await take(client, url)
  } catch (error) {
    await end()
    throw error
  }
  return { config, findLoss: () => loss, lose, [Symbol.asyncDispose]: end }
}

async function take(client: Client, url: string): Promise<void> {
  const ends = systemClock.monotonic() + LOCK_WAIT_MS
  for (;;) {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [KEY])
    if (rows[0]?.held) return
    if (systemClock.monotonic() >= ends)
      throw new HubError(
        'conflict',
        `Another hub already runs on ${toShownAddress(url)}. Stop it first, or give this one a database of its own with SUPERBLOOM_STORE.`,
      )
    await sleep(systemClock, TRY_AGAIN_MS)
  }
}
