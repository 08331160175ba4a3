import { expect, test } from 'vitest'
import { parseDecision } from './approvals.ts'

test.each([
  ['/approve apr_1', { approval: 'apr_1', decision: 'approve' }],
  ['  /deny  apr_1  not at  night ', { approval: 'apr_1', decision: 'deny', note: 'not at night' }],
  ['/approve apr_1 always 1d fine', { approval: 'apr_1', decision: 'approve', always: '1d', note: 'fine' }],
  ['/approve apr_1 always', { approval: 'apr_1', decision: 'approve', note: 'always' }],
  ['/deny apr_1 always 1d', { approval: 'apr_1', decision: 'deny', note: 'always 1d' }],
  ['approve 3', { approval: '3', decision: 'approve' }],
  ['deny 3 not now', { approval: '3', decision: 'deny', note: 'not now' }],
  ['approve', undefined],
  ['approve of it', undefined],
  ['/approve', 'incomplete'],
  ['/deny ', 'incomplete'],
  ['/approved apr_1', undefined],
  ['please /approve apr_1', undefined],
  ['hello', undefined],
])('%j', (line, decision) => {
  expect(parseDecision(line)).toEqual(decision)
})
