import { cleanText } from '../../kit/text.ts'
import { type Axis, toTimeAxis, toValueAxis } from './axis.ts'

/** The lines over time to draw. Values that are not finite are gaps. */
export interface PlotSpec {
  readonly title: string
  /** Unix milliseconds. */
  readonly from: number
  readonly to: number
  /** Milliseconds between two points; a line breaks at a missing point. */
  readonly step: number
  readonly lines: readonly { readonly name: string; readonly points: readonly PlotPoint[] }[]
  readonly toValueText: (value: number) => string
}

interface PlotPoint {
  readonly at: number
  readonly value: number
}

const WIDTH = 900
const HEIGHT = 320
const TOP = 44
const RIGHT = 24
/** Size of the letters in pixels; each is 0.6 of it wide, since the font is monospaced. */
const SIZE = 11
const TITLE_SIZE = 13
const LETTER = 0.6 * SIZE
const LEGEND_ROW = 18
const DAY = 86_400_000
const LARGEST = 1e300
/** Colors that people with color blindness can distinguish, too (Okabe and Ito). */
const COLORS = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#8c564b',
  '#555555',
] as const
/** Most lines of a plot; more cannot be distinguished. */
export const MOST_LINES = COLORS.length

/** Draws an SVG of at most 900 by 560 pixels, whose texts are in the one font that `toPng` knows. */
export function toPlotSvg(spec: PlotSpec): string {
  const lines = spec.lines.slice(0, MOST_LINES)
  const { least, most } = toBounds(lines.flatMap(({ points }) => points.map(({ value }) => value)))
  const values = toValueAxis(least, most)
  const times = toTimeAxis(spec.from, spec.to)
  const labels = values.ticks.map(spec.toValueText)
  const left = Math.max(64, 24 + Math.max(...labels.map(label => label.length)) * LETTER)
  const bottom = TOP + HEIGHT
  const toX = (at: number) => left + toShare(times, at) * (WIDTH - RIGHT - left)
  const toY = (value: number) => bottom - toShare(values, value) * HEIGHT
  const height = bottom + 36 + lines.length * LEGEND_ROW + 10
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    write(cleanText(spec.title, 100), { x: 16, y: 26, size: TITLE_SIZE }),
    ...values.ticks.flatMap((tick, index) => toValueLine(toY(tick), left, labels[index] ?? '')),
    ...times.ticks.flatMap(tick => toTimeLine(toX(tick), bottom, toTickText(tick, spec.to - spec.from))),
    write('UTC', { x: 16, y: bottom + 20 }),
    ...lines.flatMap(({ name, points }, index) => {
      const color = COLORS[index] ?? '#000000'
      return [
        toLine(points, spec.step, { toX, toY }, color),
        toLegendRow(name, color, bottom + 44 + index * LEGEND_ROW),
      ]
    }),
    '</svg>',
  ].join('')
}

/** Tells whether a value is drawn; values that are not finite, or too large to calculate with, are gaps. */
function isDrawable(value: number): boolean {
  return Math.abs(value) <= LARGEST
}

function toBounds(values: readonly number[]): { least: number; most: number } {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values.filter(isDrawable)) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  return least <= most ? { least, most } : { least: 0, most: 1 }
}

function toShare({ from, to }: Axis, value: number): number {
  return to > from ? (value - from) / (to - from) : 0.5
}

function toValueLine(y: number, left: number, label: string): string[] {
  return [
    draw(`M${round(left)} ${round(y)}H${WIDTH - RIGHT}`, '#dddddd', 1),
    write(label, { x: left - 8, y: y + SIZE / 3, anchor: 'end' }),
  ]
}

function toTimeLine(x: number, bottom: number, label: string): string[] {
  return [
    draw(`M${round(x)} ${TOP}V${bottom}`, '#eeeeee', 1),
    write(label, { x, y: bottom + 20, anchor: 'middle' }),
  ]
}

/** Returns "14:05", for spans of more than two days "22 Nov", in UTC. */
function toTickText(at: number, span: number): string {
  const options: Intl.DateTimeFormatOptions =
    span > 2 * DAY
      ? { day: 'numeric', month: 'short' }
      : {
          hour: '2-digit',
          minute: '2-digit',
          hourCycle: 'h23',
          ...(span < 300_000 ? { second: '2-digit' } : {}),
        }
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(at)
}

function toLine(
  points: readonly PlotPoint[],
  step: number,
  { toX, toY }: { toX: (at: number) => number; toY: (value: number) => number },
  color: string,
): string {
  let path = ''
  let before: number | undefined
  for (const { at, value } of points) {
    if (!isDrawable(value)) continue
    const isNext = before !== undefined && at - before <= step * 1.5
    const place = `${round(toX(at))} ${round(toY(value))}`
    // A single point becomes a dot: a stroke of no length with round ends.
    path += isNext ? `L${place}` : `M${place}L${place}`
    before = at
  }
  return draw(path, color, 2)
}

function toLegendRow(name: string, color: string, y: number): string {
  const most = Math.floor((WIDTH - 60 - RIGHT) / LETTER)
  return `${draw(`M16 ${y - 4}H36`, color, 3)}${write(cleanText(name, most), { x: 44, y })}`
}

function write(
  text: string,
  { x, y, size = SIZE, anchor = 'start' }: { x: number; y: number; size?: number; anchor?: string },
): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="#333333" xml:space="preserve">${safe}</text>`
}

function draw(path: string, color: string, width: number): string {
  if (path === '') return ''
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
