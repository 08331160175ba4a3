import { z } from 'zod'
import { parseTime } from '../../../kit/clock.ts'
import { parseValue } from '../node-exporter/exposition.ts'

/** A point: unix seconds and the value as text, which may be "NaN" or "+Inf". */
const point = z
  .tuple([z.number(), z.string()])
  .transform(([seconds, text]) => ({ at: Math.round(seconds * 1000), value: parseValue(text) }))

const labels = z.record(z.string(), z.string())

/** An instant vector. A native histogram has no single value; its fields are ignored. */
const vector = z.object({
  resultType: z.literal('vector'),
  result: z.array(z.object({ metric: labels, value: point.optional() })),
})
const matrix = z.object({
  resultType: z.literal('matrix'),
  result: z.array(z.object({ metric: labels, values: z.array(point).default([]) })),
})
const scalar = z.object({ resultType: z.literal('scalar'), result: point })
const string = z.object({ resultType: z.literal('string'), result: z.tuple([z.number(), z.string()]) })

/** https://prometheus.io/docs/prometheus/latest/querying/api/#expression-queries */
export const queryAnswer = z.object({
  status: z.literal('success'),
  data: z.discriminatedUnion('resultType', [vector, matrix, scalar, string]),
  warnings: z.array(z.string()).default([]),
})
export type QueryAnswer = z.output<typeof queryAnswer>

/** Parses an ISO time as unix milliseconds. */
export const moment = z.string().transform((text, context) => {
  const at = parseTime(text)
  if (at !== undefined) return at
  context.addIssue({ code: 'custom', message: 'not a time' })
  return z.NEVER
})

export const alertsAnswer = z.object({
  status: z.literal('success'),
  data: z.object({
    alerts: z.array(
      z.object({
        labels,
        annotations: labels.default({}),
        state: z.enum(['firing', 'pending', 'inactive']),
        activeAt: moment,
      }),
    ),
  }),
})

export const buildAnswer = z.object({ data: z.object({ version: z.string() }) })
