import { CompiledQuery, type Kysely } from 'kysely'
import { createGroupWriter, type OnCommit } from './group-writer.ts'
import type { StoreMark } from './store-mark.ts'
import type { Tables } from './tables.ts'
import type { Write } from './writer.ts'

const SYNC = CompiledQuery.raw('pragma synchronous = FULL')
const RELAX = CompiledQuery.raw('pragma synchronous = NORMAL')

/** Creates the writer of SQLite, which counts its durable commits in the mark. */
export function createWriter(
  db: Kysely<Tables>,
  mark?: Pick<StoreMark, 'count' | 'write'>,
  onCommit?: OnCommit,
): Write {
  let relaxed = false
  const setDurability = async (wanted: boolean) => {
    if (wanted === relaxed) return
    await db.executeQuery(wanted ? RELAX : SYNC)
    relaxed = wanted
  }
  return createGroupWriter(async (work, isDurable) => {
    await setDurability(!isDurable)
    const commits = await db.transaction().execute(async tx => {
      await work(tx)
      return isDurable ? mark?.count(tx) : undefined
    })
    if (commits !== undefined) mark?.write(commits)
  }, onCommit)
}
