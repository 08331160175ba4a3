/** Something that the one clock acts on at its time. */
export interface DueSource {
  /** The earliest time at which there is something to do, unix milliseconds; undefined where there is nothing. */
  nextDue(): Promise<number | undefined>
  /** Does all that is due now; what it did is not due again. */
  fire(): Promise<void>
}

/** Many sources as one; each acts only where something of its own is due. */
export function combineSources(sources: readonly DueSource[], now: () => number): DueSource {
  return {
    async nextDue() {
      const times = await Promise.all(sources.map(source => source.nextDue()))
      const known = times.filter(at => at !== undefined)
      return known.length > 0 ? Math.min(...known) : undefined
    },
    async fire() {
      for (const source of sources) {
        const due = await source.nextDue()
        if (due !== undefined && due <= now()) await source.fire()
      }
    },
  }
}
