import type { BackendState } from '../game.ts'

/** Exit codes of programs ended by SIGINT or SIGTERM, which request an end. */
const ASKED = new Set([130, 143])
/** Exit code of a killed program: because it did not end when requested, or by anyone else. */
export const KILLED = 137

/** Tells whether an exit code means an end that nobody requested; undefined means that it is unknown. */
export function isCrashCode(exitCode: number | undefined, oom: boolean): boolean {
  return oom || (exitCode !== undefined && exitCode !== 0 && !ASKED.has(exitCode))
}

/** State of a game server that never existed or is gone. */
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
