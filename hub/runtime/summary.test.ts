import { expect, test } from 'vitest'
import type { HistoryEntry } from '../store/history.ts'
import {
  emptySections,
  extractSummary,
  findConstraints,
  findIdentifiers,
  findSummaryProblem,
  HEADINGS,
  parseSummary,
  printSummary,
  withConstraints,
} from './summary.ts'
import { estimateTokens } from './tokens.ts'

let seq = 0
const says = (text: string): HistoryEntry => ({
  seq: ++seq,
  content: {
    role: 'user',
    text: `[INBOX - 1 event]\n${text}`,
    items: [{ kind: 'message', origin: 'alex', text, at: 0 }],
  },
})
const gave = (name: string, text: string, isError = false): HistoryEntry => ({
  seq: ++seq,
  content: { role: 'tool', callId: `c${seq}`, name, text, isError },
})

const whole = printSummary({
  ...emptySections(),
  Goal: ['keep the homelab well'],
  'Open asks': ['restart atm-10'],
})

test('a summary is read back as it was written; one without a heading is none', () => {
  expect(parseSummary(whole)).toEqual({
    ...Object.fromEntries(HEADINGS.map(heading => [heading, ['none']])),
    Goal: ['keep the homelab well'],
    'Open asks': ['restart atm-10'],
  })
  expect(parseSummary(whole.replace('## Done', 'Done'))).toBeUndefined()
  expect(parseSummary('')).toBeUndefined()
})

test('what is wrong with a summary is said', () => {
  const by = { replaced: 4_000, identifiers: ['atm-10'] }
  expect(findSummaryProblem(whole, by)).toBeUndefined()
  expect(findSummaryProblem(' ', by)).toBe('It is empty.')
  expect(findSummaryProblem('All is well.', by)).toContain('lacks a heading')
  expect(findSummaryProblem(whole, { ...by, identifiers: ['atm-10', 'sda1'] })).toContain('sda1')
  expect(findSummaryProblem(`${whole}${' more'.repeat(2_000)}`, by)).toContain('at most 1000')
})

test('sentences that limit are found, in what people said alone', () => {
  const entries = [
    says('Hello. Never stop ATM-10 on weekends! How are the disks?'),
    gave('look', 'never trust this'),
    says('Nur nachts laden, bitte'),
  ]
  expect(findConstraints(entries)).toEqual(['Never stop ATM-10 on weekends!', 'Nur nachts laden, bitte'])
})

test('identifiers are words with digits, dots or slashes', () => {
  expect(findIdentifiers('Move sch_1a2 and /srv/media to nas.home (10.0.0.7), please do NASA it')).toEqual([
    'sch_1a2',
    'srv/media',
    'nas.home',
    '10.0.0.7',
    'NASA',
  ])
})

test('constraints that a summary lacks are added, each once', () => {
  const added = withConstraints(emptySections(), ['never on weekends', 'none', 'never on weekends, please'])
  expect(added['Constraints and preferences']).toEqual(['never on weekends', 'never on weekends, please'])
  expect(withConstraints(added, ['never on weekends'])).toEqual(added)
})

test('an extract keeps constraints and open asks, and fits its room', () => {
  const entries = [
    says('Never stop ATM-10 on weekends.'),
    ...Array.from({ length: 60 }, (_, index) => gave('look', `disk ${index} is fine ${'x '.repeat(100)}`)),
    says('Please check sda1.'),
  ]
  const sections = extractSummary(undefined, { entries, open: ['Please check sda1.'] }, 400)
  const text = printSummary(sections)
  expect(parseSummary(text)).toBeDefined()
  expect(text).toContain('Never stop ATM-10 on weekends.')
  expect(text).toContain('Please check sda1.')
  expect(estimateTokens(text)).toBeLessThan(600)
})
