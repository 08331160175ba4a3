/** Returns the zone, or the system's if none is given. An unknown zone is added to the problems. */
export function readTimezone(given: string | undefined, problems: string[]): string {
  const system = new Intl.DateTimeFormat().resolvedOptions().timeZone
  if (given === undefined) return system
  if (isTimezone(given)) return given
  problems.push(`The time zone "${given}" is not known; it must be an IANA name such as "Europe/Berlin".`)
  return system
}

/** Tells whether this system knows the IANA zone. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
