import { describe, expect, test } from 'vitest'
import { startProcessorClock } from '../../tests/support/processor-clock.ts'
import { decideCommand } from './allowed-commands.ts'

const GLOBS = ['status', 'say *', 'kick *', 'map q3dm?', 'weather clear']

describe('a command is sent only where a glob fits all of it', () => {
  test.each([
    ['status', true],
    ['  status  ', true],
    ['Status', false],
    ['status 1', false],
    ['say hello there', true],
    ['say', false],
    ['xsay hello', false],
    ['map q3dm?', true],
    ['map q3dm1', false],
    ['weather thunder', false],
    ['quit', false],
  ])('%s: %s', (command, allowed) => {
    expect(decideCommand(command, 'quake3', GLOBS).allowed).toBe(allowed)
  })
})

describe('two commands in one are refused whatever is allowed', () => {
  test.each([
    ['say hi; quit', /semicolon/],
    ['say hi\nquit', /line ends/],
    ['say hi\rquit', /line ends/],
    ['say hi\u0000quit', /control/],
    ['say hi\u2028quit', /line ends/],
    [`say ${'x'.repeat(500)}`, /longer/],
    ['   ', /empty/],
  ])('%j', (command, why) => {
    for (const kind of ['quake3', 'source', 'teeworlds'] as const) {
      expect(decideCommand(command, kind, ['*'])).toEqual({ allowed: false, why: expect.stringMatching(why) })
    }
  })
})

test('a Minecraft command loses its slashes, and may hold a semicolon, which separates nothing there', () => {
  expect(decideCommand('/say one; two', 'minecraft', ['say *'])).toEqual({
    allowed: true,
    command: 'say one; two',
  })
  expect(decideCommand('//stop', 'minecraft', ['list'])).toMatchObject({ allowed: false })
})

test('without a list nothing is allowed, and says so', () => {
  expect(decideCommand('status', 'quake3', [])).toEqual({
    allowed: false,
    why: 'no commands are allowed for this server',
  })
})

test('many stars in a glob do not keep the server busy', () => {
  const spent = startProcessorClock()
  expect(decideCommand('a'.repeat(400), 'source', ['*a*a*a*a*a*a*b']).allowed).toBe(false)
  expect(decideCommand('a'.repeat(400), 'source', ['*a*a*a*a*a*a*a']).allowed).toBe(true)
  expect(spent()).toBeLessThan(1000)
})

test.each([
  ['ab', 'ab*b', false],
  ['abb', 'ab*b', true],
  ['aa', 'a*a', true],
  ['a', 'a*a', false],
  ['say', 'say*', true],
  ['x', '*', true],
  ['give Ann stone', 'give * * 1', false],
])('%s by %s: %s', (command, glob, allowed) => {
  expect(decideCommand(command, 'source', [glob]).allowed).toBe(allowed)
})
