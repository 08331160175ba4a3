import type { BackendState } from '../game.ts'

/** Of programs that end by the signals with which they are asked to: SIGINT, SIGKILL (after a wait), SIGTERM. */
const ASKED = new Set([130, 137, 143])

/** Whether an exit code tells that nobody asked for the end; undefined tells nothing. */
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
