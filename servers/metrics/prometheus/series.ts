import { cleanText } from '../../kit/text.ts'
import type { QueryAnswer } from './answers.ts'

export interface Point {
  /** Unix milliseconds. */
  readonly at: number
  /** May be NaN or infinite. */
  readonly value: number
}

/** One line of an answer. */
export interface Series {
  /** `up{instance='nas:9100'}`; text of others. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Oldest first; of an instant query one. Empty of what has no single value (a native histogram). */
  readonly points: readonly Point[]
}

/** The series of any kind of answer. A scalar is a series without labels; `query` names what has no name. */
export function toSeries({ data }: QueryAnswer, query: string): Series[] {
  switch (data.resultType) {
    case 'vector':
      return data.result.map(({ metric, value }) => toOne(metric, query, value ? [value] : []))
    case 'matrix':
      return data.result.map(({ metric, values }) => toOne(metric, query, values))
    case 'scalar':
      return [toOne({}, query, [data.result])]
    case 'string':
      return []
    default:
      return data satisfies never
  }
}

function toOne(labels: Series['labels'], query: string, points: readonly Point[]): Series {
  return { name: toSeriesName(labels, query), labels, points }
}

/** As PromQL writes it, with single quotation marks: they stand inside quotation marks in sentences. */
export function toSeriesName(labels: Series['labels'], query: string): string {
  const { __name__: name = '', ...others } = labels
  const pairs = Object.entries(others).map(([label, value]) => `${label}='${value}'`)
  const text = pairs.length > 0 ? `${name}{${pairs.join(', ')}}` : name
  return cleanText(text === '' ? query : text, 300)
}

export interface Summary {
  readonly last: number
  readonly least: number
  readonly mean: number
  readonly most: number
}

/** What is said of a series in figures; undefined where no point has a finite value. */
export function summarize(points: readonly Point[]): Summary | undefined {
  const values = points.map(({ value }) => value).filter(Number.isFinite)
  const last = values.at(-1)
  if (last === undefined) return undefined
  let [least, most, sum] = [last, last, 0]
  for (const value of values) {
    least = Math.min(least, value)
    most = Math.max(most, value)
    sum += value
  }
  return { last, least, mean: sum / values.length, most }
}

/** At most `most` points of them, evenly spread, the first and the last among them. */
export function thin(points: readonly Point[], most: number): Point[] {
  if (points.length <= most) return [...points]
  const stride = (points.length - 1) / (most - 1)
  return Array.from({ length: most }, (_, index) => points[Math.round(index * stride)]).filter(
    point => point !== undefined,
  )
}
