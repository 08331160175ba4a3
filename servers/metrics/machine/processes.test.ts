import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAuxv, parseProcessStat, toProcessUse, toProgramName } from './processes.ts'

const UNITS = { pageBytes: 4096, ticksPerSecond: 100 }
const fields = (utime: number, stime: number, started: number, rss: number) =>
  `S 1 1 1 0 -1 0 0 0 0 0 ${utime} ${stime} 0 0 20 0 1 0 ${started} 1000000 ${rss} 0 0 0`

test.each(['java', 'a b', ') R 1 (', 'tab\tand\nline', ''])(
  'reads the times of a process called %j',
  name => {
    expect(parseProcessStat(`42 (${name}) ${fields(150, 50, 777, 10)}\n`, UNITS)).toEqual({
      pid: 42,
      name,
      started: 777,
      cpuSeconds: 2,
      memoryBytes: 40_960,
    })
  },
)

test.each(['', '42', '42 (java', '42 (java) S 1 1', ') ('])('%j is no process', text => {
  expect(parseProcessStat(text, UNITS)).toBeUndefined()
})

test('no text makes the parser throw', () => {
  fc.assert(fc.property(fc.string(), text => void parseProcessStat(text, UNITS)))
})

test('this process finds itself, with the page size that Node counts in', () => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const before = process.memoryUsage.rss()
  const times = parseProcessStat(stat, parseAuxv(readFileSync('/proc/self/auxv')))
  expect(times?.pid).toBe(process.pid)
  expect((times?.memoryBytes ?? 0) / before).toBeGreaterThan(0.8)
  expect((times?.memoryBytes ?? 0) / before).toBeLessThan(1.2)
})

test('counts what fell between two looks, and tells a new process from an old one with its number', () => {
  const times = (pid: number, started: number, cpuSeconds: number) => ({
    pid,
    started,
    cpuSeconds,
    name: 'x',
    memoryBytes: 1,
  })
  const before = [times(1, 10, 5), times(2, 20, 100), times(3, 30, 9)]
  const after = [times(1, 10, 6), times(2, 99, 0.5), times(4, 98, 0.25)]
  expect(toProcessUse(before, after, 0.5).map(({ pid, cpuPercent }) => [pid, cpuPercent])).toEqual([
    [1, 200],
    [2, 100],
    [4, 50],
  ])
})

test.each([
  ['/usr/bin/node\0server.js\0--token\0secret', 'node'],
  ['nginx: master process /usr/sbin/nginx -g daemon off;', 'nginx'],
  ['postgres: writer process', 'postgres'],
  ['-bash', 'bash'],
  ['Z:\\games\\server.exe\0-port\x007777', 'server.exe'],
  ['python3\0/srv/app.py', 'python3'],
  ['/opt/My App/run', 'My'],
  ['', undefined],
  ['/', undefined],
])('the program of %j is %j', (commandLine, name) => {
  expect(toProgramName(commandLine)).toBe(name)
})
