import { chmodSync, closeSync, openSync, statSync } from 'node:fs'

/** What a file system answers that has no modes, or whose files are somebody else's: there the folder has to do. */
const NO_MODES: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EROFS', 'EINVAL'])

/** Makes a file that only its owner can read, empty where it is missing; one that is there keeps what is in it. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  if ((statSync(file).mode & 0o077) === 0) return
  try {
    chmodSync(file, 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_MODES.has(error.code))) throw error
  }
}
