import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'
import { findLoadTrouble } from './load-findings.ts'
import { findLogTrouble } from './log-findings.ts'
import { findStateTrouble } from './state-findings.ts'

export type Verdict = 'ok' | 'trouble' | 'down' | 'unknown'

/** Lowest weight that is trouble; findings below it are only worth knowing. */
const TROUBLE = 40

/** Decides the verdict and the findings, the likeliest first. */
export function decideFindings(facts: Facts): { verdict: Verdict; findings: Finding[] } {
  const found = [...findStateTrouble(facts), ...findLogTrouble(facts), ...findLoadTrouble(facts)]
  const findings = found.sort((a, b) => b.weight - a.weight)
  return { verdict: decideVerdict(facts, findings), findings }
}

function decideVerdict({ state, status }: Facts, findings: readonly Finding[]): Verdict {
  const stopped = state.ok && state.value.state !== 'running' && state.value.state !== 'starting'
  if (stopped) return 'down'
  if (findings.some(({ weight }) => weight >= TROUBLE)) return 'trouble'
  return state.ok || status?.ok ? 'ok' : 'unknown'
}
