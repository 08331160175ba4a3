import { expect, test } from 'vitest'
import { readLines, toContainerEvent } from './events.ts'

const ID = 'd'.repeat(64)
const event = (Action: string, attributes: Record<string, string> = {}, more: object = {}) =>
  JSON.stringify({
    Type: 'container',
    Action,
    Actor: { ID, Attributes: { name: 'quake', image: 'lab', ...attributes } },
    time: 1_795_324_202,
    timeNano: 1_795_324_202_125_000_000,
    ...more,
  })
const none = { exitCode: undefined, health: undefined }

test.each([
  ['start', event('start'), { kind: 'start', ...none }],
  ['kill', event('kill', { signal: '15' }), { kind: 'kill', ...none }],
  ['Podman’s restart', event('restart', { podId: '' }), { kind: 'kill', ...none }],
  ['Docker’s end', event('die', { exitCode: '137' }), { kind: 'die', ...none, exitCode: 137 }],
  ['Podman’s end', event('died', { containerExitCode: '3' }), { kind: 'die', ...none, exitCode: 3 }],
  ['an end without a code', event('die'), { kind: 'die', ...none }],
  ['too much memory', event('oom'), { kind: 'oom', ...none }],
  ['Docker’s health', event('health_status: unhealthy'), { kind: 'health', ...none, health: 'unhealthy' }],
  [
    'Podman’s health',
    event('health_status', {}, { HealthStatus: 'healthy' }),
    { kind: 'health', ...none, health: 'healthy' },
  ],
  ['Docker’s removal', event('destroy'), { kind: 'destroy', ...none }],
  ['Podman’s removal', event('remove'), { kind: 'destroy', ...none }],
])('%s', (_what, line, expected) => {
  expect(toContainerEvent(line)).toEqual({ id: ID, name: 'quake', at: 1_795_324_202_125, ...expected })
})

test('the rest is left out', () => {
  for (const action of [
    'exec_create: /bin/sh -c start',
    'exec_die',
    'create',
    'cleanup',
    'init',
    'stop',
    'restart',
    'attach',
  ]) {
    expect(toContainerEvent(event(action))).toBeUndefined()
  }
  expect(toContainerEvent(event('start', {}, { Type: 'image' }))).toBeUndefined()
})

test('whole seconds and no name', () => {
  const line = JSON.stringify({ Type: 'container', Action: 'start', Actor: { ID }, time: 1_795_324_202 })
  expect(toContainerEvent(line)).toMatchObject({ name: ID.slice(0, 12), at: 1_795_324_202_000 })
})

test.each(['not json', '{"message":"no"}', '42'])('%s is no event', line => {
  expect(() => toContainerEvent(line)).toThrow(SyntaxError)
})

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test.each([1, 2, 3, 7, 1000])('lines in chunks of %i bytes', async size => {
  const lines: string[] = []
  for await (const line of readLines(inPieces('{"a":"ä"}\n\n{"b":"€"}\r\n{"c":1}', size)))
    lines.push(line.trim())
  expect(lines).toEqual(['{"a":"ä"}', '{"b":"€"}', '{"c":1}'])
})

test('a line that does not end is given up', async () => {
  const read = async () => {
    for await (const line of readLines(inPieces('x'.repeat(3_000_000), 65_536))) expect(line).toBe('')
  }
  await expect(read()).rejects.toThrow('does not end')
})
