import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { toIso } from '../core/clock.ts'

/** A copy of the store, and what it holds. */
export interface StoreCopy {
  file: string
  bytes: number
  /** Rows by table. */
  rows: Record<string, number>
}

/** Tables whose rows tell people what a copy holds; each database of the hub has them. */
export const COUNTED = ['threads', 'conversations', 'messages', 'history'] as const
/** Returns the folder for backups of a data folder's store. */
export function backupsFolder(folder: string): string {
  return join(folder, 'backups')
}

/** Returns a time in UTC such as `20261122-080910`. */
export function toStamp(now: number): string {
  return toIso(now).replace(/[-:Z]/g, '').replace('T', '-').slice(0, 15)
}

/** Errors of a file system without modes, or with somebody else's files: there the folder has to do. */
const NO_MODES: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EROFS', 'EINVAL'])

/** Makes a file readable for its owner only; creates it if it is missing, and keeps what is in it. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  if ((statSync(file).mode & 0o077) === 0) return
  try {
    chmodSync(file, 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_MODES.has(error.code))) throw error
  }
}

/** Syncs a file, or the names in a folder, so that they survive a loss of power. */
export async function syncToDisk(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
