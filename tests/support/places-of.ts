import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { TempStore } from './temp-store.ts'
import { server } from './test-database.ts'

/** Returns where a text is in a store: the files of its folder, or the tables of its database. */
export async function placesOf({ folder, db }: Pick<TempStore, 'folder' | 'db'>, text: string) {
  if (server === undefined)
    return readdirSync(folder).filter(name => readFileSync(join(folder, name)).includes(text))
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(db)
  const found: string[] = []
  for (const { name } of rows) {
    const like = `%${text}%`
    const holds = await sql`select 1 from ${sql.table(name)} as one where one::text like ${like}`.execute(db)
    if (holds.rows.length > 0) found.push(name)
  }
  return found
}
