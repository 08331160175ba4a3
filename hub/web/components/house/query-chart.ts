import type { DashboardChart } from '../../../../schemas/house.ts'
import type { ChartLines } from './chart-lines.ts'

/** Charts of a Prometheus that reads node-exporters, where the config names none. */
export const USUAL: readonly DashboardChart[] = [
  {
    title: 'CPU',
    unit: '%',
    query: '100 - 100 * avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m]))',
  },
  {
    title: 'Memory',
    unit: '%',
    query: 'max by (instance) (100 - 100 * node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes)',
  },
  {
    title: 'Fullest disk',
    unit: '%',
    query:
      'max by (instance) (100 - 100 * node_filesystem_avail_bytes{fstype!~"tmpfs|ramfs|overlay|squashfs|iso9660"} / node_filesystem_size_bytes)',
  },
]

/** The answer of `query_prometheus` with a range. */
export interface QueryAnswer {
  from?: number
  stepSeconds?: number
  series: {
    name: string
    labels: Record<string, string>
    least?: number
    most?: number
    course?: { at: number; value?: number }[]
  }[]
}

/** Turns an answer into a chart; undefined where nothing has values then. */
export function toQueryChart(
  { title, unit = '' }: { title: string; unit?: string | undefined },
  { from = 0, stepSeconds = 1, series }: QueryAnswer,
): ChartLines | undefined {
  const lines = series.flatMap(({ name, labels, least, most, course = [] }) => {
    if (least === undefined || most === undefined) return []
    const values = toSteps(course, from, stepSeconds)
    return [{ label: toLabel(name, labels), latest: values.at(-1) ?? null, least, most, values }]
  })
  // Every line of a chart has a value for each step.
  const steps = Math.max(0, ...lines.map(({ values }) => values.length))
  for (const { values } of lines) while (values.length < steps) values.push(null)
  return lines.length === 0 ? undefined : { title, unit, lines }
}

/** Puts points at the steps of the chart; where a series has none it has a gap. */
function toSteps(course: { at: number; value?: number }[], from: number, stepSeconds: number) {
  const values: (number | null)[] = []
  for (const { at, value } of course) {
    const step = Math.round((at - from) / (stepSeconds * 1000))
    while (values.length < step) values.push(null)
    values[step] = value ?? null
  }
  return values
}

/** Names a line by the values of its labels, such as "nas:9100"; by its whole name where it has none. */
function toLabel(name: string, { __name__: _, ...labels }: Record<string, string>) {
  return Object.values(labels).join(' ') || name
}
