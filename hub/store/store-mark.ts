import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { countUp } from './hub-state.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Key in `hub_state` that counts the commits that reached the disk. */
export const COMMITS_KEY = 'commits'
/** Length of the mark, always the same, so that a write replaces it. */
const MARK_LENGTH = 32

export function markFile(folder: string): string {
  return join(folder, 'store.json')
}

/**
 * Records outside the database how many durable commits it has, so that a later start notices when some are
 * gone. The mark is written after each of them and synced when the store opens and closes: a loss of power
 * may leave an older number, and never one that is too high.
 */
export interface StoreMark extends Disposable {
  /** Counts a commit within its durable transaction; resolves with the number to write after the commit. */
  count(tx: Tx): Promise<number>
  /** Writes the number of commits. Never throws. */
  write(commits: number): void
}

/** Opens the mark. `onFault` is called once if the mark cannot be written; the mark stays as it is then. */
export async function openStoreMark(
  folder: string,
  db: Kysely<Tables>,
  onFault: (error: unknown) => void,
): Promise<StoreMark> {
  let file: number | undefined
  let isBroken = false
  const attempt = (act: () => void) => {
    if (isBroken) return
    try {
      act()
    } catch (error) {
      isBroken = true
      onFault(error)
    }
  }
  const write = (commits: number) =>
    attempt(() => {
      file ??= openSync(markFile(folder), constants.O_RDWR | constants.O_CREAT, 0o600)
      writeSync(file, `${JSON.stringify({ commits }).padEnd(MARK_LENGTH - 1)}\n`, 0)
    })
  const sync = () => attempt(() => file !== undefined && fsyncSync(file))
  const row = await db
    .selectFrom('hub_state')
    .select('value_json')
    .where('key', '=', COMMITS_KEY)
    .executeTakeFirst()
  write(Number(row?.value_json ?? 0))
  sync()
  return {
    count: tx => countUp(tx, COMMITS_KEY),
    write,
    [Symbol.dispose]() {
      sync()
      if (file !== undefined) closeSync(file)
    },
  }
}
