import { CompiledQuery, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Write, WriteSecret } from './writer.ts'

const ERASE = CompiledQuery.raw('pragma secure_delete = on')
const KEEP = CompiledQuery.raw('pragma secure_delete = off')
const EMPTY_LOG = CompiledQuery.raw('pragma wal_checkpoint(truncate)')

/** Creates the writer of secrets: pages are overwritten with zeros, and the log is emptied after the commit. */
export function createSecretWriter(db: Kysely<Tables>, write: Write): WriteSecret {
  return async job => {
    const result = await write(async tx => {
      await tx.executeQuery(ERASE)
      try {
        return await job(tx)
      } finally {
        await tx.executeQuery(KEEP)
      }
    })
    await db.executeQuery(EMPTY_LOG)
    return result
  }
}
