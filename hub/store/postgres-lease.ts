import type { Client, ClientConfig, QueryResultRow } from 'pg'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { connectPrimary } from './postgres-address.ts'
import { toFault } from './postgres-faults.ts'
import { StoreFault } from './writer.ts'

/** Milliseconds for which a hub leads after each renewal, by the clock of the database. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000
/** Milliseconds between two looks of a hub that waits to lead. */
const LOOK_MS = 1_000
/** Milliseconds by which a hub takes its lease for shorter: its own clocks may run slower than the database's. */
const MARGIN_MS = 2_000
/** Milliseconds that a statement about the lease gets, at the database and from here. */
const STATEMENT_MS = 4_000
const LIMITS = {
  statement_timeout: STATEMENT_MS,
  query_timeout: STATEMENT_MS,
  connectionTimeoutMillis: STATEMENT_MS,
}

/** Why a hub waits: another one leads, or led last and had other files. */
export interface Standby {
  why: 'led' | 'other_files'
  /** Address of the hub that leads, or led last. */
  url: string
}

/** How a hub takes part in who leads. */
export interface LeadOptions {
  /** Id of the hub's data folder: the process that has locked the folder is the only one with the id. */
  id: string
  /** Returns the address at which people reach this hub. */
  url: () => string
  /** Returns the hash of the config, the agent files and the drop-ins. */
  files: () => string
  /** True to lead also with other files than those of the hub that led last. */
  acceptFiles: boolean
  clock: Clock
  log: Log
  /** Called when the hub begins to wait, and whenever the reason changes; what it throws ends the wait. */
  onStandby: (standby: Standby) => Promise<void>
  /** Called once another hub leads: nothing is written from then on. */
  onTaken: (why: string) => void
  /** Ends the wait with its reason. */
  signal: AbortSignal
}

/** The lead of one hub over a database. Disposing gives it up: the next hub leads at once. */
export interface Lease extends AsyncDisposable {
  /** How others connect to the same server. */
  readonly config: ClientConfig
  /** Statement that finds a row while this hub leads, and until its transaction ends lets nobody else take the lead. */
  readonly fence: string
  /** Returns why this hub leads no more; undefined while it leads. */
  findLoss(): string | undefined
  /**
   * Resolves if this hub leads now; asks the database unless the lease surely lasts. What cannot be undone is preceded
   * by it: a process that was paused does not know for how long. Throws StoreFault.
   */
  confirm(): Promise<void>
  /**
   * Ends the lead where a transaction found another hub's, or where nobody can tell what became of a transaction,
   * with the cause; returns what to throw.
   */
  lose(cause?: unknown): StoreFault
}

/**
 * Waits until this hub leads. `refuseUnfit` throws a HubError if the database is not for this hub, which ends the wait:
 * a newer version may have led meanwhile. Throws StoreFault if the database does not answer at the start.
 */
export async function openLease(
  url: string,
  options: LeadOptions,
  refuseUnfit: () => Promise<void> = async () => undefined,
): Promise<Lease> {
  const { clock, signal, log, onStandby } = options
  await using stack = new AsyncDisposableStack()
  const database = stack.use(new LeaseConnection(url))
  await database.ask(CREATE)
  let told: Standby | undefined
  for (;;) {
    signal.throwIfAborted()
    // A database that restarts, or a transaction that another hub left open, is waited for.
    const seen = await tryToLead(database, options, refuseUnfit).catch(error => {
      if (error instanceof HubError && !(error instanceof StoreFault)) throw error
      log.warn('lead_not_tried', { error: describeError(error) })
      return undefined
    })
    if (seen instanceof KeptLease) {
      stack.move()
      return seen
    }
    if (seen && (seen.why !== told?.why || seen.url !== told.url)) await onStandby(seen)
    told = seen ?? told
    await sleep(clock, LOOK_MS, signal)
  }
}

/** Takes the lead if it is free; returns why it is not, or undefined if another hub was faster. */
async function tryToLead(
  database: LeaseConnection,
  options: LeadOptions,
  refuseUnfit: () => Promise<void>,
): Promise<KeptLease | Standby | undefined> {
  const { clock, id, acceptFiles } = options
  const [led] = await database.ask<Led>(LOOK)
  if (led && !led.is_over && led.holder !== id) return { why: 'led', url: led.url }
  await refuseUnfit()
  const asked = readClocks(clock)
  const [taken] = await database.ask<{ epoch: number }>(TAKE, [...toValues(options), id, acceptFiles])
  if (taken) return new KeptLease(database, options, taken.epoch, asked)
  const [now] = await database.ask<Led>(LOOK)
  return now && { why: now.is_over ? 'other_files' : 'led', url: now.url }
}

interface Led {
  holder: string
  url: string
  is_over: boolean
}

interface Clocks {
  wall: number
  monotonic: number
}

class KeptLease implements Lease {
  readonly config: ClientConfig
  readonly fence: string
  readonly #database: LeaseConnection
  readonly #options: LeadOptions
  readonly #epoch: number
  #loss: StoreFault | undefined
  /** When the database was asked for the time that the lease has. */
  #asked: Clocks
  #cancel: (() => void) | undefined
  #renewing: Promise<void> | undefined

  constructor(database: LeaseConnection, options: LeadOptions, epoch: number, asked: Clocks) {
    this.#database = database
    this.#options = options
    this.#epoch = epoch
    this.#asked = asked
    this.config = database.config
    this.fence = `select epoch from leader_fence where epoch = ${epoch} for share`
    this.#arm()
  }

  findLoss(): string | undefined {
    return this.#loss?.message
  }

  async confirm(): Promise<void> {
    if (this.#loss) throw this.#loss
    if (!this.#lasts()) await this.#renew()
  }

  lose(cause?: unknown): StoreFault {
    if (this.#loss) return this.#loss
    this.#cancel?.()
    const why = cause === undefined ? 'Another hub leads on this database now' : describeError(cause)
    this.#loss = new StoreFault('unreachable', `${why}. This hub stores nothing any more and ends.`)
    this.#options.onTaken(this.#loss.message)
    return this.#loss
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancel?.()
    const { log } = this.#options
    const warn = (error: unknown) => log.warn('lead_not_given_up', { error: describeError(error) })
    await this.#renewing?.catch(warn)
    if (!this.#loss) await this.#database.ask(GIVE_UP, [this.#epoch]).catch(warn)
    await this.#database[Symbol.asyncDispose]()
  }

  /** Tells whether the lease surely lasts. A machine that sleeps stops one clock, and a person may set the other. */
  #lasts(): boolean {
    const now = readClocks(this.#options.clock)
    const passed = [now.wall - this.#asked.wall, now.monotonic - this.#asked.monotonic]
    return passed.every(each => each >= 0 && each < LEASE_MS - MARGIN_MS)
  }

  #arm(): void {
    const { clock, log } = this.#options
    const renew = () =>
      this.#renew()
        .catch(error => log.warn('lead_not_renewed', { error: describeError(error) }))
        .finally(() => this.#loss || this.#arm())
    this.#cancel = clock.after(RENEW_MS, () => void renew())
  }

  /** Renews the lease, once for all who ask meanwhile. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#ask().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #ask(): Promise<void> {
    const asked = readClocks(this.#options.clock)
    const [renewed] = await this.#database.ask(RENEW, [...toValues(this.#options), this.#epoch])
    if (!renewed) throw this.lose()
    if (this.#database.config.connectionString !== this.config.connectionString)
      throw this.lose('PostgreSQL answers at another of its hosts')
    this.#asked = asked
  }
}

/** A connection of its own, so that a busy store does not delay the renewals. It connects anew after a failure. */
class LeaseConnection implements AsyncDisposable {
  readonly #url: string
  #client: Client | undefined
  /** How it connected last. */
  config: ClientConfig = {}

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a statement. Throws StoreFault. */
  async ask<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
    const client = this.#client ?? (await this.#connect())
    try {
      return (await client.query<Row>(text, values)).rows
    } catch (error) {
      await this[Symbol.asyncDispose]()
      throw toFault(error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }

  async #connect(): Promise<Client> {
    const { client, config } = await connectPrimary(this.#url, LIMITS)
    // The statement that fails tells it.
    client.on('error', () => undefined)
    this.config = config
    this.#client = client
    return client
  }
}

function toValues({ url, files }: LeadOptions): [string, string, number] {
  return [url(), files(), LEASE_MS]
}

function readClocks(clock: Clock): Clocks {
  return { wall: clock.now(), monotonic: clock.monotonic() }
}

/*
 * `leader` says who leads, by the database's own clock. Each transaction of the store locks the row of `leader_fence`,
 * so that the lead changes between transactions and never within one; renewals leave that row alone. Both belong to
 * no migration: a hub reads them before it may change the schema.
 */
const CREATE = `
  begin;
  select pg_advisory_xact_lock(7363251);
  create table if not exists leader (
    one integer primary key check (one = 1),
    epoch integer not null,
    holder text not null,
    url text not null,
    files text,
    until timestamptz not null
  );
  create table if not exists leader_fence (epoch integer not null);
  insert into leader_fence select coalesce((select epoch from leader), 0)
    where not exists (select from leader_fence);
  commit`

const UNTIL = `clock_timestamp() + $3::integer * interval '1 millisecond'`

/*
 * The lead is taken once it is over, or from an earlier process of the same data folder, which is dead. The files of a
 * hub that ended in order bind nobody.
 */
const TAKE = `
  with taken as (
    insert into leader as led (one, epoch, holder, url, files, until) values (1, 1, $4, $1, $2, ${UNTIL})
    on conflict (one) do update
    set epoch = led.epoch + 1, holder = excluded.holder, url = excluded.url, files = excluded.files, until = ${UNTIL}
    where led.holder = excluded.holder
      or (led.until <= clock_timestamp() and ($5::boolean or led.files is null or led.files = excluded.files))
    returning epoch
  )
  update leader_fence set epoch = taken.epoch from taken returning leader_fence.epoch`

const LOOK = 'select holder, url, until <= clock_timestamp() as is_over from leader'

const RENEW = `update leader set url = $1, files = $2, until = ${UNTIL} where epoch = $4 returning epoch`

const GIVE_UP = 'update leader set until = clock_timestamp(), files = null where epoch = $1'
