import { describeError, HubError } from '../core/errors.ts'

/** Runs `write` on a path. Throws `unavailable` with a remedy where the path cannot be written. */
export function writing(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const how = 'make it writable for the user that the hub runs as, and run commands as that user'
    throw new HubError('unavailable', `${path} cannot be written (${describeError(error)}): ${how}`, {
      cause: error,
    })
  }
}
