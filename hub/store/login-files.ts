import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../core/log.ts'
import type { ServerLoginRow } from './door-tables.ts'
import type { Store } from './open.ts'
import { readServerLogins, saveServerLogin } from './server-logins.ts'

/*
 * Logins at servers were files of the data folder before they were rows. A restore writes such files too: the
 * start after it takes them over, whatever version the backup is of.
 */

const SUFFIX = '.json'

/** Returns the folders of files that are to be taken over, and of those that were. */
function foldersOf(dataFolder: string): { waiting: string; moved: string } {
  return { waiting: join(dataFolder, 'oauth'), moved: join(dataFolder, 'oauth.moved') }
}

/**
 * Takes the logins of files into the store, except for older ones than it has, and then moves the files out of the
 * way, where an earlier version can be given them back. A file that cannot be read stays, and the log says so.
 */
export async function takeLoginFiles(
  { db, writeSecret }: Pick<Store, 'db' | 'writeSecret'>,
  dataFolder: string,
  { now, log }: { now: () => number; log: Log },
): Promise<void> {
  const { waiting, moved } = foldersOf(dataFolder)
  if (!existsSync(waiting)) return
  const files = readFiles(waiting, log)
  const known = new Map((await readServerLogins(db)).map(row => [row.server, row.saved_at]))
  // A file that a kill or a fault left after it was taken is older than its row.
  const newer = files.filter(({ server, writtenAt }) => writtenAt > (known.get(server) ?? 0))
  if (newer.length > 0)
    await writeSecret(async tx => {
      for (const { server, text } of newer)
        await saveServerLogin(tx, { server, login_json: text, saved_at: now() })
    })
  try {
    mkdirSync(moved, { recursive: true, mode: 0o700 })
    for (const { name } of files) renameSync(join(waiting, name), join(moved, name))
    for (const name of readdirSync(waiting)) if (name.endsWith('.new')) rmSync(join(waiting, name))
    if (readdirSync(waiting).length === 0) rmSync(waiting, { recursive: true })
  } catch (error) {
    log.error('login_files_not_moved', { error })
  }
}

function readFiles(folder: string, log: Log) {
  return readdirSync(folder).flatMap(name => {
    if (!name.endsWith(SUFFIX)) return []
    const server = name.slice(0, -SUFFIX.length)
    const file = join(folder, name)
    try {
      return [{ name, server, text: readFileSync(file, 'utf8'), writtenAt: statSync(file).mtimeMs }]
    } catch (error) {
      // The server needs a new login then, and the others go on.
      log.error('login_not_read', { server, error })
      return []
    }
  })
}

/** Deletes the files of a login that was forgotten. */
export function removeLoginFiles(dataFolder: string, server: string): void {
  const { waiting, moved } = foldersOf(dataFolder)
  for (const folder of [waiting, moved]) rmSync(join(folder, `${server}${SUFFIX}`), { force: true })
}

/** Writes logins as files, for the next start to take over. */
export function writeLoginFiles(dataFolder: string, rows: readonly ServerLoginRow[]): void {
  if (rows.length === 0) return
  const { waiting } = foldersOf(dataFolder)
  mkdirSync(waiting, { recursive: true, mode: 0o700 })
  for (const { server, login_json } of rows) {
    const file = join(waiting, `${server}${SUFFIX}`)
    rmSync(file, { force: true })
    writeFileSync(file, login_json, { mode: 0o600, flush: true })
  }
}
