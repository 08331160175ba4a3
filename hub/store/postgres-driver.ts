import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { withoutNul } from '../core/json.ts'
import { isConnectionLost, toFault, UncertainCommit } from './postgres-faults.ts'

/** Statements that have a name, so that PostgreSQL plans them once; the hub's are few. */
const MOST_NAMED = 500
const NAMED = /^\s*(?:select|insert|update|delete|with)\b/i

/** Statements that nobody waits for: what follows them is sent at once, and fails if they fail. */
const UNAWAITED = /^(?:savepoint|release savepoint|set local) /

/**
 * Runs Kysely's statements over a pool of `pg`. Its connections send a statement before the last one is answered
 * (`pipeline`), have names for statements, and throw the store's own faults.
 */
export class PostgresDriver implements Driver {
  readonly #pool: Pool
  readonly #names = new Map<string, string>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  init(): Promise<void> {
    return Promise.resolve()
  }

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), sql => this.#nameOf(sql))
    } catch (error) {
      throw toFault(error)
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    connection.begin()
  }

  commitTransaction(connection: PostgresConnection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: PostgresConnection): Promise<void> {
    return connection.rollBack()
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }

  #nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= MOST_NAMED || !NAMED.test(sql)) return known
    const name = `s${this.#names.size}`
    this.#names.set(sql, name)
    return name
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #nameOf: (sql: string) => string | undefined
  /** The first failure of a statement that nobody waited for. */
  #failure: unknown
  #isBroken = false

  constructor(client: PoolClient, nameOf: (sql: string) => string | undefined) {
    this.#client = client
    this.#nameOf = nameOf
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (UNAWAITED.test(query.sql)) {
      this.#sendUnawaited(query.sql)
      return { rows: [] }
    }
    const { command, rowCount, rows } = await this.#ask(query.sql, query.parameters)
    return /^(?:INSERT|UPDATE|DELETE)$/.test(command)
      ? { numAffectedRows: BigInt(rowCount ?? 0), rows }
      : { rows }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The store reads no streams')
  }

  begin(): void {
    this.#failure = undefined
    this.#sendUnawaited('begin')
  }

  /** Throws UncertainCommit if it is not known whether the transaction was committed. */
  async commit(): Promise<void> {
    let command: string
    try {
      command = (await this.#client.query('commit')).command
    } catch (error) {
      if (!isConnectionLost(error)) throw toFault(error)
      this.#isBroken = true
      throw new UncertainCommit(processOf(this.#client), { cause: error })
    }
    // PostgreSQL answers so where a statement of the transaction failed.
    if (command === 'ROLLBACK') throw toFault(this.#failure ?? new Error('The transaction was rolled back'))
  }

  async rollBack(): Promise<void> {
    if (this.#isBroken) return
    try {
      await this.#client.query('rollback')
    } catch (error) {
      // PostgreSQL rolls back what a connection leaves behind, so the error that led here is the one to tell.
      this.#isBroken = isConnectionLost(error)
      if (!this.#isBroken) throw toFault(error)
    }
  }

  release(): void {
    this.#client.release(this.#isBroken)
  }

  #sendUnawaited(sql: string): void {
    this.#client.query(sql).catch((error: unknown) => {
      this.#failure ??= error
    })
  }

  async #ask(sql: string, parameters: readonly unknown[]) {
    const name = this.#nameOf(sql)
    const values = parameters.map(toValue)
    try {
      return await this.#client.query(
        name === undefined ? { text: sql, values } : { text: sql, values, name },
      )
    } catch (error) {
      if (isConnectionLost(error)) this.#isBroken = true
      throw toFault(this.#failure ?? error)
    }
  }
}

/** PostgreSQL stores no NUL in a text. */
function toValue(value: unknown): unknown {
  return typeof value === 'string' ? withoutNul(value) : value
}

/** Returns the process of a connection, which `pg` keeps and does not declare. */
function processOf(client: PoolClient): number | undefined {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : undefined
}
