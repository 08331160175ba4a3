/** A curve of `get_system_metrics` with `history`. */
export interface Curve {
  kind: 'cpu' | 'memory' | 'disk' | 'temperature'
  name?: string
  least: number
  mean: number
  most: number
  values: (number | null)[]
}

export interface HostHistory {
  host: string
  otherHosts?: string[]
  history?: { from: number; stepSeconds: number; curves: Curve[] }
}

/** One chart: curves of one unit over the same times. */
export interface ChartLines {
  title: string
  /** '' for none. */
  unit: string
  lines: { label: string; latest: number | null; least: number; most: number; values: (number | null)[] }[]
}

const CHARTS: readonly { title: string; unit: ChartLines['unit']; kinds: readonly Curve['kind'][] }[] = [
  { title: 'CPU and memory', unit: '%', kinds: ['cpu', 'memory'] },
  { title: 'Temperatures', unit: '°C', kinds: ['temperature'] },
  { title: 'Disks', unit: '%', kinds: ['disk'] },
]
const LABELS: Partial<Record<Curve['kind'], string>> = { cpu: 'CPU', memory: 'Memory' }

/** Returns the charts of a host's curves, without those that would be empty. */
export function toCharts(curves: readonly Curve[]): ChartLines[] {
  return CHARTS.map(({ title, unit, kinds }) => ({
    title,
    unit,
    lines: curves
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ kind, name, least, most, values }) => ({
        label: name ?? LABELS[kind] ?? kind,
        latest: values.findLast(value => value !== null) ?? null,
        least,
        most,
        values,
      })),
  })).filter(({ lines }) => lines.length > 0)
}

/** Returns the times of a chart's steps in unix seconds, as uPlot wants them. */
export function toTimes(from: number, stepSeconds: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from / 1000 + index * stepSeconds)
}
