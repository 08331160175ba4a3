import { expect, test } from 'vitest'
import { type Curve, toCharts, toTimes } from './chart-lines.ts'

const curve = (kind: Curve['kind'], values: Curve['values'], name?: string): Curve => ({
  kind,
  ...(name === undefined ? {} : { name }),
  least: 1,
  mean: 2,
  most: 3,
  values,
})

test('curves of one unit share a chart, with their latest known value, and an empty chart is left out', () => {
  const charts = toCharts([curve('cpu', [1, 3, null]), curve('memory', [2]), curve('disk', [9], '/srv')])
  expect(
    charts.map(({ title, unit, lines }) => [title, unit, ...lines.map(line => [line.label, line.latest])]),
  ).toEqual([
    ['CPU and memory', '%', ['CPU', 3], ['Memory', 2]],
    ['Disks', '%', ['/srv', 9]],
  ])
})

test('the times of the steps are seconds', () => {
  expect(toTimes(60_000, 600, 3)).toEqual([60, 660, 1260])
})
