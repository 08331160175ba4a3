import type { BackendState } from '../../game.ts'
import { isCrashCode, MISSING } from '../state.ts'

/** The properties that are read of a unit. */
export const PROPERTIES =
  'LoadState,ActiveState,SubState,Result,ExecMainCode,ExecMainStatus,NRestarts,MemoryCurrent,CPUUsageNSec,ActiveEnterTimestamp,InactiveEnterTimestamp'
/** Codes of waitid(2) for the end of a process. */
const CLD_EXITED = '1'
const CLD_SIGNALLED = new Set(['2', '3'])

/** Properties of a unit from `systemctl show --timestamp=unix`. */
export type Facts = ReadonlyMap<string, string>

export function toFacts(text: string): Facts {
  return new Map(
    text.split('\n').flatMap(line => {
      const at = line.indexOf('=')
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )
}

export function isUp(facts: Facts): boolean {
  return /^(active|activating|reloading|refreshing)$/.test(facts.get('ActiveState') ?? '')
}

export function isDown(facts: Facts): boolean {
  return /^(inactive|failed)$/.test(facts.get('ActiveState') ?? '')
}

export function toState(facts: Facts): BackendState {
  const active = facts.get('ActiveState') ?? 'unknown'
  if (facts.get('LoadState') === 'not-found' && active === 'inactive') {
    return { ...MISSING, detail: 'systemd knows no such unit' }
  }
  const result = facts.get('Result') ?? 'success'
  const down = isDown(facts)
  const isLooping = facts.get('SubState') === 'auto-restart'
  const exitCode = down || isLooping ? toExitCode(facts) : undefined
  const load = facts.get('LoadState')
  return {
    state: toWord(facts, exitCode),
    detail: [
      `${active} (${facts.get('SubState') ?? 'unknown'})`,
      ...((down || isLooping) && result !== 'success' ? [`result ${result}`] : []),
      ...(load !== undefined && load !== 'loaded' && load !== 'not-found' ? [`its file is ${load}`] : []),
    ].join(', '),
    startedAt: toMillis(facts.get('ActiveEnterTimestamp')),
    stoppedAt: down ? toMillis(facts.get('InactiveEnterTimestamp')) : undefined,
    exitCode,
    oom: down && result === 'oom-kill',
    restarts: toNumber(facts.get('NRestarts')),
    health: undefined,
  }
}

function toWord(facts: Facts, exitCode: number | undefined): BackendState['state'] {
  switch (facts.get('ActiveState')) {
    case 'activating':
      return 'starting'
    case 'failed':
      // Java exits with 143 after SIGTERM, which systemd counts as a failure.
      return facts.get('Result') === 'exit-code' && !isCrashCode(exitCode, false) ? 'stopped' : 'failed'
    case 'inactive':
      return facts.get('LoadState') === 'bad-setting' ? 'failed' : 'stopped'
    default:
      return 'running'
  }
}

/** Returns the exit code; for an end by a signal 128 plus its number, as in a shell. */
function toExitCode(facts: Facts): number | undefined {
  const code = facts.get('ExecMainCode') ?? ''
  const status = toNumber(facts.get('ExecMainStatus'))
  if (status === undefined) return undefined
  if (code === CLD_EXITED) return status
  return CLD_SIGNALLED.has(code) ? 128 + status : undefined
}

/** Converts "@1795324375" to milliseconds. */
function toMillis(text = ''): number | undefined {
  const seconds = toNumber(text.replace(/^@/, ''))
  return seconds === undefined ? undefined : seconds * 1000
}

/**
 * Returns undefined for "[not set]", for an empty text, and for the largest number, which means "not set"
 * too.
 */
function toNumber(text = ''): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && Number.isSafeInteger(value) ? value : undefined
}

export function toUse(before: Facts, after: Facts, milliseconds: number) {
  const [from, to] = [toNumber(before.get('CPUUsageNSec')), toNumber(after.get('CPUUsageNSec'))]
  const memoryBytes = toNumber(after.get('MemoryCurrent'))
  if (from === undefined || to === undefined || memoryBytes === undefined || milliseconds <= 0) {
    return undefined
  }
  return { cpuPercent: ((to - from) / 1e6 / milliseconds) * 100, memoryBytes }
}
