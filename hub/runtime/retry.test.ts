import { expect, test } from 'vitest'
import { ModelError, type ModelErrorKind } from '../core/model.ts'
import { decideRetry } from './retry.ts'

/** Returns the waits until the decision is to give up. */
function waitsOf(error: unknown, random = () => 1): number[] {
  const waits: number[] = []
  for (let failures = 1; ; failures++) {
    const decision = decideRetry(error, failures, random)
    if (decision.kind === 'give_up') return waits
    expect(decision).toMatchObject({ attempt: failures, tell: decision.wait > 5_000 })
    waits.push(decision.wait)
  }
}

const table: [ModelErrorKind, number[]][] = [
  ['rate_limit', [1_500, 1_500, 10_000, 20_000, 40_000, 80_000, 160_000]],
  ['network', [1_500, 1_500, 10_000, 20_000, 40_000]],
  ['server', [1_500, 1_500, 10_000, 20_000]],
  ['broken_stream', [1_500, 1_500, 10_000, 20_000]],
  ['auth', []],
  ['rejected', []],
  ['overflow', []],
]

test.for(table)('%s is tried again after %o ms', ([kind, waits]) => {
  const error = new ModelError(kind, 'x')
  expect(waitsOf(error)).toEqual(waits)
  const first = decideRetry(error, 1, () => 0.5)
  if (first.kind === 'retry') expect(first.of).toBe(waits.length)
})

test('what is no error of a model is not tried again', () => {
  expect(waitsOf(new Error('x'))).toEqual([])
})

test('waits vary by up to a quarter, so that not all come back at once', () => {
  expect(waitsOf(new ModelError('network', 'x'), () => 0).slice(2)).toEqual([7_500, 15_000, 30_000])
})

test('the provider may ask for a longer wait, within bounds, never for a shorter one', () => {
  const asks = (retryAfter: number) => new ModelError('rate_limit', 'x', { retryAfter })
  expect(waitsOf(asks(30_000))).toEqual([30_000, 30_000, 30_000, 30_000, 40_000, 80_000, 160_000])
  expect(waitsOf(asks(1))[0]).toBe(1_500)
  expect(waitsOf(asks(86_400_000))[0]).toBe(600_000)
})
