import { expect, test } from 'vitest'
import type { Message } from './conversation.ts'
import { hasOthers, toRows } from './rows.ts'

const NOON = new Date(2026, 10, 21, 12).getTime()
const MINUTE = 60_000

function message(seq: number, kind: Message['kind'], minutes: number, author = 'homelab') {
  return { seq, kind, author, at: NOON + minutes * MINUTE } as Message
}

test('days are marked, tool calls in a row stand together, an author is named once', () => {
  const rows = toRows([
    message(1, 'user', 0, 'owner'),
    message(2, 'tool', 1, 'get_a'),
    message(3, 'tool', 1, 'get_b'),
    message(4, 'agent', 2),
    message(5, 'agent', 3),
    message(6, 'agent', 30),
    message(7, 'agent', 24 * 60),
  ])
  expect(rows.map(row => row.key)).toEqual([
    'day-2026-11-21',
    'm1',
    't2',
    'm4',
    'm5',
    'm6',
    'day-2026-11-22',
    'm7',
  ])
  expect(rows.filter(row => row.type === 'message' && row.named).map(row => row.key)).toEqual([
    'm1',
    'm4',
    'm6',
    'm7',
  ])
  expect(rows[2]).toMatchObject({ type: 'tools', messages: [{ seq: 2 }, { seq: 3 }] })
})

test('a call that a person is asked about stands by itself', () => {
  const asked = { ...message(2, 'tool', 1), data: { call: 'c', status: 'waiting', approval: 'apr_1' } }
  const rows = toRows([message(1, 'tool', 1), asked, message(3, 'tool', 1)])
  expect(rows.map(row => row.type)).toEqual(['day', 'tools', 'approval', 'tools'])
  expect(rows[2]).toMatchObject({ approval: 'apr_1' })
})

test('people are named where somebody else than the reader wrote', () => {
  expect(hasOthers([message(1, 'user', 0, 'owner'), message(2, 'agent', 0)], 'owner')).toBe(false)
  expect(hasOthers([message(1, 'user', 0, 'owner'), message(2, 'user', 0, 'ada')], 'owner')).toBe(true)
  expect(hasOthers([message(1, 'user', 0, 'owner')], 'ada')).toBe(true)
})

test('an agent is named again where it says what nobody asked for, as of an event', () => {
  const of = (seq: number, cycle: string) => ({ ...message(seq, 'agent', seq), data: { cycle } }) as Message
  const rows = toRows([of(1, 'cyc_1'), of(2, 'cyc_1'), of(3, 'cyc_2')])
  expect(rows.filter(row => row.type === 'message' && row.named).map(row => row.key)).toEqual(['m1', 'm3'])
})
