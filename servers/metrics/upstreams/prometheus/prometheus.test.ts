import { expect, test } from 'vitest'
import { queryAnswer } from './answers.ts'
import { decideQuery, decideStep, toSpan } from './decide-query.ts'
import { toNumberText } from './number-text.ts'
import { summarize, thin, toSeries, toSeriesName } from './series.ts'

const HOUR = 3_600_000

test.each([
  [0, '0'],
  [1, '1'],
  [0.25, '0.25'],
  [-12.3456, '-12.35'],
  [9999, '9999'],
  [9999.9, '10 k'],
  [12_345, '12.35 k'],
  [999_999, '1 M'],
  [16_106_127_360, '16.11 G'],
  [-2.5e15, '-2.5 P'],
  [1e25, '1e+25'],
  [0.000_123, '0.000123'],
  [1.234e-7, '1.23e-7'],
  [Number.NaN, 'not a number'],
  [Number.POSITIVE_INFINITY, 'infinite'],
  [Number.NEGATIVE_INFINITY, 'minus infinite'],
])('%d is read as %j', (value, text) => {
  expect(toNumberText(value)).toBe(text)
})

test.each([
  ['1m', '1s'],
  ['1h', '15s'],
  ['6h', '2m'],
  ['1d', '10m'],
  ['7d', '1h'],
  ['30d', '3h'],
  ['52w', '2d'],
  ['1000w', '30d'],
])('of %s a point every %s shows the course', (range, step) => {
  expect(decideStep(toSpan(range))).toBe(toSpan(step))
})

test('what is asked for is one moment, or a span that ends then', () => {
  expect(decideQuery({ query: 'up' }, 5)).toEqual({ kind: 'instant', query: 'up', at: 5 })
  expect(decideQuery({ query: 'up', range: '1h', step: '1m' }, 2 * HOUR)).toEqual({
    kind: 'range',
    query: 'up',
    from: HOUR,
    to: 2 * HOUR,
    step: 60_000,
  })
  expect(() => decideQuery({ query: 'up', range: '1d', step: '1s' }, 0)).toThrow('does not fit')
  expect(() => decideQuery({ query: 'up', range: '1m', step: '1h' }, 0)).toThrow('does not fit')
})

const parse = (data: unknown) => queryAnswer.parse({ status: 'success', data })

test('every kind of answer becomes series', () => {
  const metric = { __name__: 'up', job: 'node' }
  const vector = parse({ resultType: 'vector', result: [{ metric, value: [1.5, 'NaN'] }] })
  expect(toSeries(vector, 'q')).toEqual([
    { name: "up{job='node'}", labels: metric, points: [{ at: 1500, value: Number.NaN }] },
  ])
  const matrix = parse({ resultType: 'matrix', result: [{ metric: {}, values: [[1, '+Inf']] }] })
  expect(toSeries(matrix, 'sum(up)')).toMatchObject([
    { name: 'sum(up)', points: [{ at: 1000, value: Number.POSITIVE_INFINITY }] },
  ])
  expect(toSeries(parse({ resultType: 'scalar', result: [1, '5'] }), '5')).toMatchObject([
    { name: '5', points: [{ value: 5 }] },
  ])
  expect(toSeries(parse({ resultType: 'string', result: [1, 'x'] }), '"x"')).toEqual([])
  const histogram = parse({ resultType: 'vector', result: [{ metric, histogram: [1, { count: '5' }] }] })
  expect(toSeries(histogram, 'q')).toMatchObject([{ points: [] }])
})

test('a series is named as PromQL writes it, cleaned and cut', () => {
  expect(toSeriesName({ __name__: 'up' }, 'q')).toBe('up')
  expect(toSeriesName({ a: 'x\u001b[31m' }, 'q')).toBe("{a='x [31m'}")
  expect(toSeriesName({ a: 'x'.repeat(1000) }, 'q')).toHaveLength(300)
})

test('a summary leaves out what is no number, and thinning keeps both ends', () => {
  const points = [1, Number.NaN, 3, Number.POSITIVE_INFINITY].map((value, at) => ({ at, value }))
  expect(summarize(points)).toEqual({ last: 3, least: 1, mean: 2, most: 3 })
  expect(summarize(points.slice(1, 2))).toBeUndefined()
  const many = Array.from({ length: 1000 }, (_, at) => ({ at, value: at }))
  const few = thin(many, 24)
  expect(few).toHaveLength(24)
  expect([few[0]?.at, few.at(-1)?.at]).toEqual([0, 999])
  expect(thin(points, 24)).toEqual(points)
})
