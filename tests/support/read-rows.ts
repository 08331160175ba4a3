import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Where a hub's store is: in its data folder, or in a database. */
export interface StoredAt {
  dataFolder: string
  url?: string | undefined
}

/** Reads rows of a hub's store, whether it runs or not. */
export function readRows<Row>({ dataFolder, url }: StoredAt, sql: string): Row[] {
  if (url !== undefined) {
    const text = `select coalesce(json_agg(one), '[]') from (${sql}) as one`
    return JSON.parse(
      execFileSync('psql', [url, '-Atc', text], { encoding: 'utf8', maxBuffer: 1e9 }),
    ) as Row[]
  }
  const database = new Database(join(dataFolder, 'superbloom.db'), { readonly: true })
  try {
    return database.prepare(sql).all() as Row[]
  } finally {
    database.close()
  }
}

/** Changes a hub's store past the triggers that guard the audit, as somebody does who has the file or the database. */
export function changeRows({ dataFolder, url }: StoredAt, sql: string): void {
  if (url !== undefined) {
    execFileSync('psql', [
      url,
      '-v',
      'ON_ERROR_STOP=1',
      '-qc',
      `set session_replication_role = replica; ${sql}`,
    ])
    return
  }
  const database = new Database(join(dataFolder, 'superbloom.db'))
  try {
    database.exec(`drop trigger if exists audit_unchanged; ${sql}`)
  } finally {
    database.close()
  }
}
