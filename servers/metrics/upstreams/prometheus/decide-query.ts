import ms from 'ms'
import { z } from 'zod'
import { ToolFailure } from '../../../kit/failure.ts'
import type { PrometheusQuery } from './prometheus.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map(count => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(count => count * MINUTE),
  ...[1, 2, 3, 6, 12].map(count => count * HOUR),
]
/** Most points of an automatic step, enough to show a curve; Prometheus itself allows 11,000. */
const GOOD = 240
const MOST = 2000

/** A span of time as an argument: "90s", "6h", "7d". */
export const spanField = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?(s|m|h|d|w)$/, 'a span such as "30m", "6h" or "7d"')

/** Returns the milliseconds of such a span; NaN for any other text. */
export function toSpan(text: string): number {
  return spanField.safeParse(text).success ? ms(text as ms.StringValue) : Number.NaN
}

/**
 * Decides the query. Without a range it asks for one moment; the default step shows the curve. Throws
 * ToolFailure.
 */
export function decideQuery(
  given: { query: string; range?: string | undefined; step?: string | undefined },
  at: number,
): PrometheusQuery {
  const { query } = given
  if (given.range === undefined) return { kind: 'instant', query, at }
  const span = toSpan(given.range)
  const step = given.step === undefined ? decideStep(span) : toSpan(given.step)
  if (span / step > MOST || span < step) {
    throw new ToolFailure({
      what: 'The step does not fit the range; nothing was asked.',
      where: 'step',
      why: span < step ? 'the step is longer than the range' : `that is more than ${MOST} points a series`,
      fix: 'Leave step out, and a fitting one is chosen.',
    })
  }
  return { kind: 'range', query, from: at - span, to: at, step }
}

/** Returns the smallest round step that gives at most GOOD points. */
export function decideStep(span: number): number {
  return STEPS.find(step => span / step <= GOOD) ?? Math.ceil(span / GOOD / DAY) * DAY
}
