import { chmodSync, closeSync, openSync, statSync } from 'node:fs'

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
