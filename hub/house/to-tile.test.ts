import { expect, test } from 'vitest'
import type { TileSpec } from './tile-specs.ts'
import { furtherValues, toTile } from './to-tile.ts'

const spec = (rows: TileSpec['rows'], more: Partial<TileSpec> = {}): TileSpec => ({
  server: 's',
  tool: 'get_things',
  title: '{host}|Things',
  every: 1,
  rows,
  ...more,
})

test('templates leave out what is absent, and take the first alternative that is whole', () => {
  const filled = toTile(
    spec([
      {
        list: 'all',
        name: '{title}|{id}',
        text: ['{players} of {max} play|{players} play', '{paused:=paused}', '{names}', '{free:bytes} free'],
      },
    ]),
    {
      all: [
        { id: 'a', title: 'Alpha', players: 0, max: 4, paused: true, names: ['Ada', 'Bob'], free: 1536 },
        { id: 'b', title: '', players: 2, paused: false, names: [] },
      ],
    },
  )
  expect(filled).toEqual({
    title: 'Things',
    rows: [
      { name: 'Alpha', text: '0 of 4 play · paused · Ada, Bob · 1.5 KiB free' },
      { name: 'b', text: '2 play' },
    ],
  })
})

test.each([
  ['percent', 41.6, '42 %'],
  ['celsius', 47.2, '47 °C'],
  ['bytes', 0, '0 B'],
  ['bytes', 812 * 2 ** 30, '812 GiB'],
  ['rate', 1_500_000, '1.4 MiB/s'],
  ['span', 7200, '2 h'],
])('a %s of %d is "%s"', (unit, value, text) => {
  expect(toTile(spec([{ name: 'x', text: [`{value:${unit}}`] }]), { value })?.rows).toEqual([
    { name: 'x', text },
  ])
})

test('tones come from numbers, words and presence; the worst first', () => {
  const rows = toTile(
    spec([
      {
        list: 'all',
        name: '{n}',
        text: ['{n}'],
        bar: 'n',
        tones: [
          { of: 'wrong', bad: true },
          { of: 'n', warn: 80, bad: 95 },
          { of: 'state', good: ['running'] },
        ],
      },
    ]),
    { all: [{ n: 99 }, { n: 80 }, { n: 3, state: 'Running' }, { n: 1, wrong: 'oom' }, { n: 200 }] },
  )?.rows
  expect(rows?.map(({ tone, percent }) => [tone, percent])).toEqual([
    ['bad', 99],
    ['warn', 80],
    ['good', 3],
    ['bad', 1],
    ['bad', 100],
  ])
})

test('of a long list the worst are shown, with the number of the others', () => {
  const all = Array.from({ length: 40 }, (_, n) => ({ n, ...(n === 39 ? { wrong: 'x' } : {}) }))
  const list = [{ list: 'all', name: '{n}', text: [], tones: [{ of: 'wrong', bad: true as const }] }]
  const filled = toTile(spec(list), { all })
  expect(filled?.more).toBe(32)
  expect(filled?.rows.map(({ name }) => name)).toEqual(['39', '0', '1', '2', '3', '4', '5', '6'])
})

test('a result without rows has its words or no tile, and what is no result has no tile', () => {
  const list = [{ list: 'all', name: '{n}', text: [] }]
  expect(toTile(spec(list, { none: 'Nothing.' }), { all: [] })).toMatchObject({
    summary: 'Nothing.',
    rows: [],
  })
  expect(toTile(spec(list), { all: [] })).toBe(undefined)
  expect(toTile(spec(list), undefined)).toBe(undefined)
  expect(toTile(spec(list), { all: 'none' })).toBe(undefined)
})

test('a text of others stays on one line and is cut', () => {
  const [row] =
    toTile(spec([{ list: 'all', name: '{.}', text: [] }]), { all: [`a\n\u0007b${'x'.repeat(999)}`] })?.rows ??
    []
  expect(row?.name).toMatch(/^a bx+…/)
  expect(row?.name.length).toBeLessThan(350)
})

test('further values are texts of a list', () => {
  const each = { argument: 'host', list: 'otherHosts' }
  expect(furtherValues(spec([], { each }), { otherHosts: ['attic', 1] })).toEqual(['attic'])
  expect(furtherValues(spec([]), { otherHosts: ['attic'] })).toEqual([])
})
