import { cleanText } from '../../../kit/text.ts'
import type { QueryAnswer } from './answers.ts'

export interface Point {
  /** Unix milliseconds. */
  readonly at: number
  /** A number that may be NaN or infinite. */
  readonly value: number
}

/** One series of an answer. */
export interface Series {
  /** The name, such as `up{instance='nas:9100'}`; foreign text. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /**
   * Points, oldest first; one for an instant query, none for a series without single values (a native
   * histogram).
   */
  readonly points: readonly Point[]
}

/**
 * Converts any kind of answer to series. A scalar is a series without labels; `query` is the name of a series
 * without one.
 */
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

/** Returns the name as in PromQL, but with single quotation marks: sentences put it between double ones. */
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

/** Summarizes a series; undefined if no point has a finite value. */
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

/** Returns at most `most` of the points, evenly spread, including the first and the last. */
export function thin(points: readonly Point[], most: number): Point[] {
  if (points.length <= most) return [...points]
  const stride = (points.length - 1) / (most - 1)
  return Array.from({ length: most }, (_, index) => points[Math.round(index * stride)]).filter(
    point => point !== undefined,
  )
}
