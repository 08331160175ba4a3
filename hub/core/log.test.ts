import { expect, test } from 'vitest'
import { createLog, type LogLevel } from './log.ts'

function capture(level: LogLevel, pretty = false) {
  const lines: string[] = []
  const log = createLog({ level, now: () => 1_795_302_000_000, write: line => lines.push(line), pretty })
  return { lines, log }
}

test('one JSON line for each event, with the fields of its log', () => {
  const { lines, log } = capture('info')
  log.with({ server: 'games' }).with({ era: 'modern' }).info('server_ready', { tools: 3, server: 'media' })
  expect(lines).toEqual([
    '{"time":"2026-11-21T23:00:00Z","level":"info","event":"server_ready","server":"media","era":"modern","tools":3}',
  ])
})

test('what is below the level is not written', () => {
  const count = (level: LogLevel) => {
    const { lines, log } = capture(level)
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    return lines.map(line => JSON.parse(line).event).join('')
  }
  expect([count('debug'), count('info'), count('warn'), count('error')]).toEqual(['abcd', 'bcd', 'cd', 'd'])
})

test('errors are written with their causes, and big numbers as texts', () => {
  const { lines, log } = capture('info')
  const error = new Error('no call', {
    cause: new TypeError('refused'),
  })
  log.error('failed', { error, rows: 5n })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ error: 'no call: refused', rows: '5' })
})

test('for a person it is one short line, which cannot steer the terminal', () => {
  const { lines, log } = capture('info', true)
  log.warn('server_stderr', { line: 'red \u001b[31m', nested: { a: 1 }, error: new Error('bad') })
  expect(lines).toEqual(['23:00:00 WARN  server_stderr line=red \\u001b[31m nested={"a":1} error=bad'])
})

test('a line of others is one line, and nothing in it is hidden, for people and for programs', () => {
  const line = 'x\n23:00:00 INFO  ready \u202efdp\u200b\u009b'
  const pretty = capture('info', true)
  pretty.log.warn('stderr', { line })
  expect(pretty.lines).toEqual([
    '23:00:00 WARN  stderr line=x\\n23:00:00 INFO  ready \\u202efdp\\u200b\\u009b',
  ])
  const json = capture('info')
  json.log.warn('stderr', { line })
  expect(json.lines[0]).toMatch(/^[ -~]+$/)
  expect(JSON.parse(json.lines[0] ?? '')).toMatchObject({ line })
})
