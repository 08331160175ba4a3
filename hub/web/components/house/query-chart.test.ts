import { expect, test } from 'vitest'
import { toQueryChart } from './query-chart.ts'

test('series have a value or a gap at each step, and are named by their labels', () => {
  const series = [
    {
      name: "up{instance='nas:9100'}",
      labels: { __name__: 'up', instance: 'nas:9100' },
      least: 1,
      most: 3,
      course: [
        { at: 1_000, value: 1 },
        { at: 31_000, value: 3 },
      ],
    },
    { name: 'sum(up)', labels: {}, least: 2, most: 2, course: [{ at: 11_000, value: 2 }] },
    { name: 'never a number', labels: {}, course: [{ at: 1_000 }] },
  ]
  expect(toQueryChart({ title: 'Up' }, { from: 1_000, stepSeconds: 10, series })).toEqual({
    title: 'Up',
    unit: '',
    lines: [
      { label: 'nas:9100', latest: 3, least: 1, most: 3, values: [1, null, null, 3] },
      { label: 'sum(up)', latest: 2, least: 2, most: 2, values: [null, 2, null, null] },
    ],
  })
})

test('without a value there is no chart', () => {
  expect(toQueryChart({ title: 'Up' }, { from: 0, stepSeconds: 10, series: [] })).toBeUndefined()
})
