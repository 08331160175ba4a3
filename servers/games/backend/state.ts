import type { BackendState } from '../game.ts'

/** Of programs that end by SIGINT or SIGTERM, with which they are asked to. */
const ASKED = new Set([130, 143])
/** Of one that was killed: after it did not end when asked to, or by anyone else. */
export const KILLED = 137

/** Whether an exit code tells of an end that nobody asked for; undefined tells nothing. */
export function isCrashCode(exitCode: number | undefined, oom: boolean): boolean {
  return oom || (exitCode !== undefined && exitCode !== 0 && !ASKED.has(exitCode))
}

/** What has never been or is gone. */
export const MISSING: BackendState = {
  state: 'missing',
  detail: 'there is no such thing',
  startedAt: undefined,
  stoppedAt: undefined,
  exitCode: undefined,
  oom: false,
  restarts: undefined,
  health: undefined,
}
