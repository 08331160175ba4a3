import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toReadable } from './readable.ts'

it('writes keys, units, lists and tables', () => {
  const value = {
    host: 'nas',
    cpu: { percent: 12.345, cores: 8 },
    disks: [
      { mount: '/', usedPercent: 50, freeBytes: 1e11 },
      { mount: '/srv|x', usedPercent: 90.12, freeBytes: 2e12 },
    ],
    uptimeSeconds: 100_000,
    sampledAt: 1_795_300_800_000,
    tags: ['a', 'b'],
    empty: [],
    none: null,
    ok: true,
  }
  expect(toReadable(value, 'Europe/Berlin')).toBe(
    [
      '- host: nas',
      '- cpu: percent 12.3 %, cores 8',
      '- disks:',
      '',
      '| mount | used | free |',
      '| --- | --- | --- |',
      '| / | 50 % | 93.1 GiB |',
      '| /srv\\|x | 90.1 % | 1.8 TiB |',
      '',
      '- uptime: 27 h 47 min',
      '- sampled at: Sat 2026-11-21 23:40',
      '- tags: a, b',
      '- empty: none',
      '- none: –',
      '- ok: yes',
    ].join('\n'),
  )
})

it('cuts long lists with a count', () => {
  const rows = Array.from({ length: 20 }, (_, pid) => ({ pid, name: `p${pid}` }))
  expect(toReadable({ processes: rows }, 'UTC')).toMatch(/^\| pid \| name \|[\s\S]*… and 5 more rows$/)
  expect(
    toReadable(
      Array.from({ length: 30 }, (_, n) => `item ${n}`),
      'UTC',
    ),
  ).toMatch(/… and 10 more items$/)
})

it('gives the one long text of an object as it is', () => {
  const content = `line one\n${'x'.repeat(80)}`
  expect(toReadable({ content }, 'UTC')).toBe(content)
  expect(toReadable({ server: 'valheim' }, 'UTC')).toBe('- server: valheim')
})

it('never shows raw JSON, never fails, whatever the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const text = toReadable(value, 'UTC')
      expect(text).not.toContain('[object')
      if (typeof value === 'object') expect(text.startsWith('{') && text.endsWith('}')).toBe(false)
    }),
  )
})
