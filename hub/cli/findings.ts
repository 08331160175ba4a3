import type { ModelFinding } from '../model/try-model.ts'
import { print } from './print.ts'

/** Result of one check: fine, or what is wrong and how to mend it. */
export type Finding = ModelFinding

export const ok = (what: string): Finding => ({ level: 'ok', what })
export const warning = (what: string): Finding => ({ level: 'warning', what })
export const problem = (what: string): Finding => ({ level: 'problem', what })

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' }

export function printFindings(findings: readonly Finding[]): void {
  for (const { level, what } of findings) print(`${MARKS[level]} ${what}`)
}
