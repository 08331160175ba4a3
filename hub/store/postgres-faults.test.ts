import { expect, test } from 'vitest'
import { isConnectionLost, toFault } from './postgres-faults.ts'
import { StoreFault } from './writer.ts'

const failed = (code?: string) =>
  Object.assign(new Error('from the server'), code === undefined ? {} : { code })

test.each([
  ['53100', 'full', false],
  ['40001', 'locked', false],
  ['40P01', 'locked', false],
  ['XX001', 'damaged', false],
  ['57P01', 'unreachable', true],
  ['08006', 'unreachable', true],
  ['25006', 'unreachable', false],
  ['28P01', 'unreachable', false],
  ['53300', 'unreachable', false],
  ['ECONNREFUSED', 'unreachable', true],
  ['ECONNRESET', 'unreachable', true],
  [undefined, 'unreachable', true],
] as const)('%s is the fault %s', (code, kind, isLost) => {
  const error = failed(code)
  expect(toFault(error)).toMatchObject({ name: 'StoreFault', kind, code: 'unavailable', cause: error })
  expect(isConnectionLost(error)).toBe(isLost)
})

test.each(['23505', '22003', '42601', '25P02'])("%s is the statement's own, and passes as it is", code => {
  const error = failed(code)
  expect(toFault(error)).toBe(error)
})

test('a fault stays the fault that it is', () => {
  const fault = new StoreFault('full', 'no room')
  expect(toFault(fault)).toBe(fault)
})
