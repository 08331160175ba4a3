import { shorten } from './call-ids.ts'

/** Gemini's alphabet is the narrowest: no digit and no `-` in front. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** A tool's name as every provider takes it. It depends on the name alone, so that a history keeps its bytes. */
export function toSentName(name: string): string {
  if (ACCEPTED.test(name)) return name
  return shorten(/^[A-Za-z_]/.test(name) ? name : `_${name}`, 64)
}
