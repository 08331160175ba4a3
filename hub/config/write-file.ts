import { describeError, HubError } from '../core/errors.ts'

/**
 * Runs `write` on a path. Throws `unavailable` where the path cannot be written, with a remedy, or what to do
 * `byHand`.
 */
export function writing(path: string, write: () => void, byHand?: string): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const how = 'make it writable for the user that the hub runs as, and run commands as that user'
    const instead = byHand === undefined ? '' : `. Or do it by hand: ${byHand}`
    const message = `${path} cannot be written (${describeError(error)}): ${how}${instead}`
    throw new HubError('unavailable', message, { cause: error })
  }
}
