import { z } from 'zod'

export const span = z.string().regex(/^\d+(?:\.\d+)?\s*(?:s|m|h|d)$/, 'must be a span such as 30m, 2h or 1d')

/** A span in milliseconds, written as `30m`, `2h`, `1d`. */
export const duration = span.transform(text => toMilliseconds(text))

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function toMilliseconds(text: string): number {
  return Number.parseFloat(text) * (UNITS[text.at(-1) ?? ''] ?? 0)
}

/** Highest number that counts as seconds: nobody would wait longer. */
export const MOST_SECONDS = 3_600

/** A span or, as in other programs' entries, a number. */
export const limit = z.union([span, z.number().positive()])

/**
 * Returns the milliseconds of a limit in an entry. A number up to 3,600 is in seconds (Cline, Roo Code,
 * Goose), a larger one in milliseconds (Gemini CLI, LibreChat).
 */
export function limitToMilliseconds(given: z.infer<typeof limit>): number {
  if (typeof given === 'string') return toMilliseconds(given)
  return given > MOST_SECONDS ? given : given * 1_000
}
