import { expect, test } from 'vitest'
import { toTimeAxis, toValueAxis } from './axis.ts'
import { MOST_LINES, toPlotSvg } from './plot.ts'
import { toPng } from './png.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 10, 22, 12)

test.each([
  [0, 97, [0, 20, 40, 60, 80, 100]],
  [95, 97, [95, 95.5, 96, 96.5, 97]],
  [-3, 3, [-4, -2, 0, 2, 4]],
  [0.001, 0.0042, [0, 0.001, 0.002, 0.003, 0.004, 0.005]],
  [5, 5, [2, 3, 4, 5, 6, 7, 8]],
  [0, 0, [-1, -0.5, 0, 0.5, 1]],
  [1e18, 1e18, undefined],
  [-1e300, 1e300, undefined],
])('the lines of values from %d to %d are round and hold them', (least, most, expected) => {
  const axis = toValueAxis(least, most)
  if (expected) expect(axis.ticks).toEqual(expected)
  expect(axis.from).toBeLessThanOrEqual(least)
  expect(axis.to).toBeGreaterThanOrEqual(most)
  expect(axis.ticks.length).toBeLessThan(15)
})

test('the lines of time are at round times of the span, and not many', () => {
  const hour = toTimeAxis(NOON + 1, NOON + 61 * MINUTE)
  expect(hour.ticks).toEqual([10, 20, 30, 40, 50, 60].map(minutes => NOON + minutes * MINUTE))
  for (const span of [1000, MINUTE, 7 * 3_600_000, 90 * 86_400_000, 4000 * 86_400_000]) {
    const { ticks } = toTimeAxis(NOON, NOON + span)
    expect(ticks.length).toBeLessThanOrEqual(8)
    expect(ticks.length).toBeGreaterThan(0)
  }
})

const spec = {
  title: 'up',
  from: NOON,
  to: NOON + 10 * MINUTE,
  step: MINUTE,
  toValueText: String,
}
const points = (...values: number[]) => values.map((value, index) => ({ at: NOON + index * MINUTE, value }))
const linesOf = (svg: string) =>
  [...svg.matchAll(/d="([^"]*)"[^>]*stroke-width="2"/g)].map(match => match[1] ?? '')

test('a line breaks where a value is missing or no number, and a lonely point is a dot', () => {
  const [line = ''] = linesOf(
    toPlotSvg({
      ...spec,
      lines: [{ name: 'a', points: [...points(1, 2, Number.NaN, 4), { at: NOON + 9 * MINUTE, value: 5 }] }],
    }),
  )
  expect(line.match(/M/g)).toHaveLength(3)
  expect(line).toMatch(/M([\d.]+ [\d.]+)L\1$/)
})

test('nothing to draw, and text of others, make a sound picture', () => {
  expect(linesOf(toPlotSvg({ ...spec, lines: [] }))).toEqual([])
  const none = toPlotSvg({ ...spec, lines: [{ name: 'x', points: points(Number.POSITIVE_INFINITY) }] })
  expect(none).not.toMatch(/NaN|Infinity/)
  const svg = toPlotSvg({
    ...spec,
    title: '<script>&"',
    lines: [{ name: '</svg>\u0000', points: points(1) }],
  })
  expect(svg).not.toContain('<script')
  expect(svg.match(/<\/svg>/g)).toHaveLength(1)
})

test('its size is bounded, however many lines there are', () => {
  const lines = Array.from({ length: 500 }, (_, index) => ({
    name: 'n'.repeat(5000),
    points: points(index, 1),
  }))
  const svg = toPlotSvg({ ...spec, lines })
  expect(linesOf(svg)).toHaveLength(MOST_LINES)
  expect(Number(/height="(\d+)"/.exec(svg)?.[1])).toBeLessThanOrEqual(560)
})

test('every letter of the title is drawn with the font', async () => {
  const draw = (title: string) => toPng(toPlotSvg({ ...spec, title, lines: [] }))
  const empty = await draw('')
  for (const title of ['a', 'Ж', '&']) expect(await draw(title), title).not.toBe(empty)
  expect(await draw('a')).not.toBe(await draw('b'))
})

test('it becomes a PNG of its size', async () => {
  const svg = toPlotSvg({ ...spec, lines: [{ name: 'a', points: points(1, 2, 3) }] })
  const png = Buffer.from(await toPng(svg), 'base64')
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  expect(png.readUInt32BE(16)).toBe(900)
  expect(png.readUInt32BE(20)).toBe(Number(/height="(\d+)"/.exec(svg)?.[1]))
  await expect(toPng('no picture')).rejects.toThrow()
})
