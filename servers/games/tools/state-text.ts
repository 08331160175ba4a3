import { cleanText, toAgeText, toSpanText } from '../../kit/text.ts'
import type { BackendState } from '../game.ts'

/**
 * Returns "running for 2 h 3 min, healthy", "failed 5 min ago (exit code 1)", "not there: the cluster knows
 * no such workload".
 */
export function toStateText(state: BackendState, now: number): string {
  switch (state.state) {
    case 'running':
    case 'starting': {
      const span = state.startedAt === undefined ? undefined : Math.max(0, now - state.startedAt) / 1000
      const since = span === undefined ? '' : ` for ${toSpanText(span)}`
      const check = state.health === 'starting' ? 'its health check has not passed yet' : state.health
      const health = check === undefined ? '' : `, ${check}`
      const last = state.exitCode === undefined ? '' : `, after it ended with exit code ${state.exitCode}`
      return `${state.state}${since}${last}${health}`
    }
    case 'stopped':
      return `stopped${toSince(state, now)}`
    case 'failed':
      return `failed${toSince(state, now)} (${toEndText(state)})`
    case 'missing':
      return `not there: ${cleanText(state.detail)}`
    default:
      return state.state satisfies never
  }
}

/** Returns "exit code 1", "it ran out of memory, exit code 137". */
export function toEndText({ exitCode, oom, detail }: BackendState): string {
  const code = exitCode === undefined ? undefined : `exit code ${exitCode}`
  return [oom ? 'it ran out of memory' : undefined, code ?? (oom ? undefined : cleanText(detail))]
    .filter(part => part !== undefined)
    .join(', ')
}

function toSince({ stoppedAt }: BackendState, now: number): string {
  return stoppedAt === undefined ? '' : ` ${toAgeText(stoppedAt, now)}`
}
