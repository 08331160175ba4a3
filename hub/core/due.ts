import { describeError } from './errors.ts'

/** A source of work that the hub's clock runs at its time. */
export interface DueSource {
  /** Returns the earliest time at which the source has work, unix milliseconds; undefined without work. */
  nextDue(): Promise<number | undefined>
  /**
   * Does the work that is due now and makes it no longer due. Resolves with true where some is left to do.
   */
  fire(): Promise<unknown>
}

/**
 * Combines sources into one that fires each source only when that one is due. A source that fails does not
 * stop the others: its error is thrown after all have fired.
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
