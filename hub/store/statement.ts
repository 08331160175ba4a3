import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely'
import { adapterOf, type Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/**
 * A statement of the hot path: it is built and compiled once for each kind of database, then only given its
 * arguments.
 */
export type Statement<Args, Row> = (db: Kysely<Tables>, args: Args) => Promise<QueryResult<Row>>

/** Stands for an argument while a statement is built. */
class Slot {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

const slots = new Proxy({}, { get: (_, name) => new Slot(name) })

/**
 * Makes a statement. `build` is called once, with stand-ins for the arguments: it may put them where a value
 * goes, and nothing else may depend on them. Fixed values are written with `sql.lit`, so that partial indexes
 * are found.
 */
export function statement<Args extends object, Row>(
  build: (db: Kysely<Tables>, args: Args) => Compilable<Row>,
): Statement<Args, Row> {
  const compiled = new Map<Dialect, CompiledQuery<Row>>()
  return async (db, args) => {
    const adapter = adapterOf(db)
    let known = compiled.get(adapter.dialect)
    if (!known) {
      const built = build(db, slots as Args).compile()
      known = { ...built, sql: adapter.dialect.keepPlan(built.sql) }
      compiled.set(adapter.dialect, known)
    }
    const parameters = known.parameters.map(value =>
      value instanceof Slot ? args[value.name as keyof Args] : value,
    )
    if (db.isTransaction && adapter.runInTransaction) {
      return adapter.runInTransaction(known.sql, parameters) as QueryResult<Row>
    }
    return db.executeQuery<Row>({ ...known, parameters })
  }
}
