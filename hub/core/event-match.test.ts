import { expect, test } from 'vitest'
import type { EventWanted } from '../../schemas/inbox.ts'
import { isWanted } from './event-match.ts'

const cases: [EventWanted, boolean][] = [
  ['server_empty', true],
  ['server_*', true],
  ['*', true],
  ['server', false],
  [{ type: 'server_empty' }, true],
  [{ type: 'server_*', match: { server: 'atm-*' } }, true],
  [{ type: 'server_empty', match: { server: 'sky' } }, false],
  [{ type: 'server_empty', match: { server: 'atm-10', previousCount: 3 } }, true],
  [{ type: 'server_empty', match: { previousCount: 2 } }, false],
  [{ type: 'server_empty', match: { previousCount: '3' } }, true],
  [{ type: 'server_empty', match: { oom: true } }, false],
  [{ type: 'server_empty', match: { missing: '*' } }, true],
  [{ type: 'server_empty', match: { missing: '?' } }, false],
  [{ type: 'player_left', match: { server: 'atm-*' } }, false],
]

test.for(cases)('%j: %s', ([wanted, expected]) => {
  expect(isWanted(wanted, 'server_empty', { server: 'atm-10', previousCount: 3, oom: false })).toBe(expected)
})
