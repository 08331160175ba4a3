import { describeError } from './errors.ts'

/** Something that the one clock acts on at its time. */
export interface DueSource {
  /** The earliest time at which there is something to do, unix milliseconds; undefined where there is nothing. */
  nextDue(): Promise<number | undefined>
  /** Does what is due now; what it did is not due again. Resolves with true where it left something for another turn. */
  fire(): Promise<unknown>
}

/**
 * Many sources as one; each acts only where something of its own is due. One that fails keeps nothing from the others:
 * its error is thrown once all have acted.
 */
export function combineSources(sources: readonly DueSource[], now: () => number) {
  return {
    async nextDue() {
      const times = await Promise.all(sources.map(source => source.nextDue()))
      const known = times.filter(at => at !== undefined)
      return known.length > 0 ? Math.min(...known) : undefined
    },
    async fire() {
      let more = false
      const errors: unknown[] = []
      for (const source of sources) {
        try {
          const due = await source.nextDue()
          if (due !== undefined && due <= now() && (await source.fire()) === true) more = true
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0)
        throw errors.length === 1
          ? errors[0]
          : new AggregateError(errors, errors.map(describeError).join('; '))
      return more
    },
  } satisfies DueSource
}
