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
