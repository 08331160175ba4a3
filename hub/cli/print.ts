import type { ModelFinding } from '../../schemas/model-choice.ts'
import { escapeUnseen, stripUnseen } from '../core/text.ts'

/** Prints lines on standard output. Text of others cannot steer the terminal. */
export function print(text: string): void {
  process.stdout.write(`${stripUnseen(text)}\n`)
}

/** Prints lines on standard error, as `print` does. */
export function printError(text: string): void {
  process.stderr.write(`${stripUnseen(text)}\n`)
}

/** Prints a value as JSON, with escapes for characters that a terminal must not get. */
export function printJson(value: unknown): void {
  process.stdout.write(`${escapeUnseen(JSON.stringify(value, undefined, 2))}\n`)
}

export const ok = (what: string): ModelFinding => ({ level: 'ok', what })
export const warning = (what: string): ModelFinding => ({ level: 'warning', what })
export const problem = (what: string): ModelFinding => ({ level: 'problem', what })

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' }

export function printFindings(findings: readonly ModelFinding[]): void {
  for (const { level, what } of findings) print(`${MARKS[level]} ${what}`)
}
