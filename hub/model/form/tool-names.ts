import { shorten } from './call-ids.ts'

/** Names that every provider takes. Gemini's alphabet is the narrowest: no digit and no `-` in front. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Returns a tool's name as every provider takes it. The same name gives the same bytes in a history. */
export function toSentName(name: string): string {
  if (ACCEPTED.test(name)) return name
  return shorten(/^[A-Za-z_]/.test(name) ? name : `_${name}`, 64)
}
