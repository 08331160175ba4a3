import { z } from 'zod'

export const span = z.string().regex(/^\d+(?:\.\d+)?\s*(?:s|m|h|d)$/, 'must be a span such as 30m, 2h or 1d')

/** A span in milliseconds, written as `30m`, `2h`, `1d`. */
export const duration = span.transform(text => toMilliseconds(text))

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function toMilliseconds(text: string): number {
  return Number.parseFloat(text) * (UNITS[text.at(-1) ?? ''] ?? 0)
}
