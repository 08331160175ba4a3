import { z } from 'zod'
import { type Clock, parseTime } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { describeError } from '../../kit/log.ts'
import { type Page, page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import type { Text } from '../../kit/render.ts'
import { cleanText, quote, toCountText, toSpanText, toTimeText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Image, type Tool } from '../../kit/tool.ts'
import { prometheusSpec } from '../config.ts'
import { MOST_LINES, toPlotSvg } from '../plot/plot.ts'
import { toPng } from '../plot/png.ts'
import { decideQuery, spanField } from '../upstreams/prometheus/decide-query.ts'
import { toNumberText } from '../upstreams/prometheus/number-text.ts'
import type { Prometheus, PrometheusQuery } from '../upstreams/prometheus/prometheus.ts'
import { type Series, summarize, thin, toSeries } from '../upstreams/prometheus/series.ts'

/** Points in the structured data, of each series and of all together; the picture shows all of them. */
const COURSE = 24
const ALL_POINTS = 480
const LIMIT = 30_000

const number = (about: string) =>
  z.number().optional().describe(`${about}; absent: not a number, or infinite`)

const output = z.object({
  source: z.string().describe('the Prometheus that answered'),
  kind: z.enum(['instant', 'range']),
  at: z.number().describe('the moment, or the end of the range, unix milliseconds'),
  from: z.number().optional().describe('the start of the range, unix milliseconds'),
  stepSeconds: z.number().optional(),
  series: z.array(
    z.object({
      name: foreignText(300),
      labels: z.record(foreignText(), foreignText()),
      value: number('the value, of a range the last'),
      valueText: z.string().describe('the same for people'),
      least: number('of a range'),
      mean: number('of a range'),
      most: number('of a range'),
      course: z
        .array(z.object({ at: z.number().describe('unix milliseconds'), value: number('then') }))
        .optional()
        .describe(
          `of a range: points, evenly spread, at most ${ALL_POINTS} of all series or ${COURSE} of each`,
        ),
    }),
  ),
  text: foreignText(1000).optional().describe('where the expression is a text'),
  warnings: z.array(foreignText(300)),
  ...pageOutput,
})
type Data = DataOf<typeof output>

const input = z.strictObject({
  query: z.string().min(1).max(8000).describe('such as "rate(node_cpu_seconds_total[5m])"'),
  range: spanField.optional().describe('how far back, such as "6h"'),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('moment or end of the range, ISO 8601; default: now'),
  step: spanField.optional().describe('such as "5m"'),
  plot: z.boolean().default(true),
  instance: z.string().max(100).optional(),
  ...pageFields(20, 100),
})

/** `query_prometheus`: runs PromQL at a moment or over a span, and returns figures and a picture. */
export function queryPrometheus({ all, clock }: { all: readonly Prometheus[]; clock: Clock }): Tool {
  return defineTool({
    name: 'query_prometheus',
    title: 'Query Prometheus',
    description:
      'Asks Prometheus with PromQL, for metrics that no other tool has or how a value went over time: with ' +
      'range least, mean and most of each series and a plot, without it the values of one moment.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    output,
    limit: LIMIT,
    async run(given, signal) {
      const prometheus = pickInstance(all, given.instance, prometheusSpec)
      const asked = decideQuery(given, parseTime(given.at) ?? clock.now())
      const answer = await prometheus.query(asked, signal)
      const series = toSeries(answer, given.query)
      const part = page(series, given)
      const drawn = given.plot && asked.kind === 'range' ? await plot(asked, part.items) : {}
      const { items, ...rest } = part
      const { data: found, warnings } = answer
      const data: Data = {
        source: prometheus.name,
        kind: asked.kind,
        ...(asked.kind === 'range'
          ? { from: asked.from, at: asked.to, stepSeconds: asked.step / 1000 }
          : { at: asked.at }),
        series: items.map(one =>
          toRow(one, asked.kind, Math.max(COURSE, Math.floor(ALL_POINTS / items.length))),
        ),
        text: found.resultType === 'string' ? found.result[1] : undefined,
        warnings,
        ...rest,
      }
      return { data, text: toText(data, asked, part, drawn.note), images: drawn.images }
    },
  })
}

function toRow(
  { name, labels, points }: Series,
  kind: PrometheusQuery['kind'],
  most: number,
): Data['series'][number] {
  const last = points.at(-1)?.value
  const valueText = last === undefined ? 'a histogram' : toNumberText(last)
  const row = { name, labels, value: toFinite(last), valueText }
  if (kind === 'instant') return row
  const summary = summarize(points)
  const course = thin(points, most).map(({ at, value }) => ({ at, value: toFinite(value) }))
  return { ...row, least: summary?.least, mean: summary?.mean, most: summary?.most, course }
}

/** Omits NaN and infinite values, which JSON cannot represent. */
function toFinite(value: number | undefined): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

/** Draws the picture; if that fails, the figures are still returned. */
async function plot(
  asked: PrometheusQuery & { kind: 'range' },
  series: readonly Series[],
): Promise<{ images?: Image[]; note?: string }> {
  if (series.length === 0) return {}
  const svg = toPlotSvg({
    title: asked.query,
    from: asked.from,
    to: asked.to,
    step: asked.step,
    lines: series,
    toValueText: toNumberText,
  })
  try {
    return { images: [{ data: await toPng(svg), mimeType: 'image/png' }] }
  } catch (error) {
    return { note: `The plot could not be drawn: ${cleanText(describeError(error))}` }
  }
}

function toText(data: Data, asked: PrometheusQuery, part: Page<Series>, note: string | undefined): Text {
  const warnings = data.warnings.map(warning => `Prometheus warns: ${quote(warning, 300)}.`)
  if (data.text !== undefined) return [`It is the text ${quote(data.text, 1000)}.`, warnings]
  if (data.total === 0) {
    return ['No series fits this query: nothing has these names and labels then.', warnings]
  }
  const isRange = asked.kind === 'range'
  const span = isRange
    ? `from ${toTimeText(asked.from)} to ${toTimeText(asked.to)}, a point every ${toSpanText(asked.step / 1000)}`
    : `at ${toTimeText(asked.at)}`
  return [
    `${toCountText(data.total, 'series', 'series')} ${span}:`,
    isRange
      ? toTable(data.series)
      : data.series.map(({ name, valueText }) => `- ${quote(name, 300)}: ${valueText}`),
    toMoreText(part, 'series', 'series'),
    isRange && part.items.length > MOST_LINES && `The plot shows the first ${MOST_LINES} of them.`,
    note,
    warnings,
  ]
}

function toTable(series: Data['series']): string[] {
  const figure = (value: number | undefined) => (value === undefined ? '–' : toNumberText(value))
  return [
    '| series | last | least | mean | most |',
    '| --- | --- | --- | --- | --- |',
    ...series.map(
      ({ name, valueText, least, mean, most }) =>
        `| ${quote(name, 300).replaceAll('|', '/')} | ${valueText} | ${figure(least)} | ${figure(mean)} | ${figure(most)} |`,
    ),
  ]
}
