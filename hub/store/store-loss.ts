import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { z } from 'zod'
import { parseJson } from '../core/json.ts'
import { plural } from '../core/text.ts'
import { databaseFile, hasTable, listBackups, MIGRATIONS, withDatabase } from './sqlite-backup.ts'
import { withFaults } from './sqlite-faults.ts'
import { COMMITS_KEY, markFile } from './store-mark.ts'

/** A loss of what a store should hold. */
export type StoreLoss =
  | { kind: 'missing' | 'empty' }
  /** `damage`: SQLite's finding about the rest; undefined if the rest is sound. */
  | { kind: 'behind'; commits: number; damage: string | undefined }

/**
 * Tells whether a hub ran on the folder before, as far as files besides the database tell. Asked before the
 * folder is locked.
 */
export function wasUsed(folder: string): boolean {
  const ran = existsSync(join(folder, 'lock.db')) && existsSync(join(folder, 'token'))
  return ran || readMark(folder) !== undefined || listBackups(folder).length > 0
}

/**
 * Compares the database with the mark beside it; returns undefined if nothing is lost. Changes nothing, so
 * that a damaged write-ahead log stays as it is.
 */
export function findLoss(folder: string, used: boolean): StoreLoss | undefined {
  // The mark is read first: a hub that runs only raises what the database holds.
  const mark = readMark(folder)
  const file = databaseFile(folder)
  if (!existsSync(file)) return used ? { kind: 'missing' } : undefined
  if (statSync(file).size === 0 && !existsSync(`${file}-wal`)) return used ? { kind: 'empty' } : undefined
  const look = (database: Database.Database) => {
    if (!hasTable(database, MIGRATIONS)) return used ? { kind: 'empty' as const } : undefined
    const commits = (mark ?? 0) - commitsOf(database)
    return commits > 0 ? { kind: 'behind' as const, commits, damage: damageOf(database) } : undefined
  }
  return withFaults(() => withDatabase(file, look, true))
}

/** Describes what is lost, and the two ways on. */
export function describeLoss(folder: string, loss: StoreLoss): string {
  const [backup] = listBackups(folder)
  const back = backup
    ? `Put the newest backup back with: superbloom restore ${backup}`
    : 'There is no backup in its folder backups; restore one from elsewhere with: superbloom restore FILE'
  return `${describeWhat(folder, loss)} Nothing was changed. ${back} (or go on with what is there: superbloom start --accept-loss)`
}

function describeWhat(folder: string, loss: StoreLoss): string {
  const file = databaseFile(folder)
  switch (loss.kind) {
    case 'missing':
      return `${file} is missing, though a hub used this folder before: everything that it stored is lost.`
    case 'empty':
      return `${file} is empty, though a hub used this folder before: everything that it stored is lost.`
    case 'behind': {
      const rest = loss.damage ? `The rest is damaged too: ${loss.damage}.` : 'The rest is sound.'
      return `${file} lacks the last ${plural(loss.commits, 'commit')} that it had stored, and with them messages: its write-ahead log (superbloom.db-wal) is damaged or gone, or an older copy took its place. ${rest}`
    }
    default:
      return loss satisfies never
  }
}

/** Returns the commits that the store is known to have had; undefined if no readable mark says so. */
function readMark(folder: string): number | undefined {
  const file = markFile(folder)
  if (!existsSync(file)) return undefined
  // A loss of power may leave anything in the mark, which then says nothing.
  return mark.safeParse(parseJson(readFileSync(file, 'utf8'))).data?.commits
}

const mark = z.object({ commits: z.int().nonnegative() })

function commitsOf(database: Database.Database): number {
  if (!hasTable(database, 'hub_state')) return 0
  const find = database.prepare('select value_json from hub_state where key = ?').pluck()
  return Number(find.get(COMMITS_KEY) ?? 0)
}

function damageOf(database: Database.Database): string | undefined {
  const found = database.pragma('quick_check(1)', { simple: true })
  return found === 'ok' ? undefined : String(found)
}
