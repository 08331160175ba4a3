import { z } from 'zod'

/** Name of a time zone, known or not. */
export const zoneName = z.string().min(1).max(100)

/** Tells whether the platform knows the IANA time zone. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/**
 * Tells whether a time zone is that of a place. Machines without one say UTC, and so do browsers that hide where they
 * are.
 */
export function isPlace(timezone: string): boolean {
  return timezone.includes('/') && !timezone.startsWith('Etc/') && isTimezone(timezone)
}
