import { HubError } from '../core/errors.ts'

/** Returns the limit as a number. Throws `invalid_arguments` for anything but a whole number from 1 on. */
export function readLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new HubError('invalid_arguments', `--limit: give a whole number from 1 on; it is ${text}`)
}
