import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bound, decideReservation } from './decide-reservation.ts'
import { toMicros, toUsage } from './prices.ts'

const PRICE = { currency: 'EUR', input: 0.5, cachedInput: 0.1, output: 2 }
const tokens = (value: number, spent = 0, reserved = 0): Bound => ({
  key: 'limits.tokensPerDay',
  unit: 'tokens',
  value,
  spent,
  reserved,
})
const money = (value: number, spent = 0, reserved = 0): Bound => ({
  key: 'budget.moneyPerDay',
  unit: 'micros',
  value,
  spent,
  reserved,
})
const call = { input: 1_000, maxOutput: 1_000, price: PRICE }

test.each([
  ['no limit', [], call, { kind: 'fits', maxOutput: 1_000 }],
  ['exactly enough', [tokens(2_000)], call, { kind: 'fits', maxOutput: 1_000 }],
  ['one too few', [tokens(1_999)], call, { kind: 'fits', maxOutput: 999 }],
  ['the smallest reply', [tokens(1_256)], call, { kind: 'fits', maxOutput: 256 }],
  ['less than the smallest reply', [tokens(1_255)], call, { kind: 'full', bound: tokens(1_255) }],
  [
    'a model that never says more',
    [tokens(1_100)],
    { ...call, maxOutput: 100 },
    { kind: 'fits', maxOutput: 100 },
  ],
  ['others use the rest for now', [tokens(2_000, 0, 1_000)], call, { kind: 'wait' }],
  [
    'others use the rest, and it is too little anyway',
    [tokens(2_000, 900, 500)],
    call,
    { kind: 'full', bound: tokens(2_000, 900, 500) },
  ],
  ['money for half of the reply', [money(1_500)], call, { kind: 'fits', maxOutput: 500 }],
  ['no money for the request', [money(499)], call, { kind: 'full', bound: money(499) }],
  ['money without a price', [money(1)], { ...call, price: undefined }, { kind: 'fits', maxOutput: 1_000 }],
  ['the tightest counts', [tokens(5_000), money(100)], call, { kind: 'full', bound: money(100) }],
] as const)('room: %s', (_name, bounds, planned, decided) => {
  expect(decideReservation(bounds, planned)).toEqual(decided)
})

test('promise 9: what fits never takes any limit over its value', () => {
  const amount = fc.integer({ min: 0, max: 5_000 })
  const bound = fc.record({
    unit: fc.constantFrom<Bound['unit']>('tokens', 'micros'),
    value: amount,
    spent: amount,
    reserved: amount,
  })
  const price = fc.record({
    currency: fc.constant('EUR'),
    input: fc.double({ min: 0, max: 3, noNaN: true }),
    output: fc.double({ min: 0, max: 9, noNaN: true }),
  })
  fc.assert(
    fc.property(
      fc.array(bound),
      amount,
      fc.integer({ min: 64, max: 4_096 }),
      price,
      (limits, input, most, costs) => {
        const full = { ...costs, cachedInput: costs.input }
        const bounds = limits.map(each => ({ ...each, key: 'limits.tokensPerDay' as const }))
        const room = decideReservation(bounds, { input, maxOutput: most, price: full })
        if (room.kind !== 'fits') return
        const usage = { input, output: room.maxOutput, cachedInput: 0 }
        for (const { unit, value, spent, reserved } of bounds) {
          const takes = unit === 'tokens' ? input + room.maxOutput : toMicros(usage, full)
          // Two amounts are rounded up, each by less than one.
          expect(spent + reserved + takes).toBeLessThanOrEqual(value + (unit === 'tokens' ? 0 : 1))
        }
      },
    ),
  )
})

test('a reply of a fallback is paid at its price, and one without a price at that of the model that was asked', () => {
  const usage = { input: 100, output: 10, cachedInput: 50 }
  const reply = { text: '', calls: [], truncated: false, usage }
  expect(toUsage(reply, 1, PRICE).costMicros).toBe(25 + 5 + 20)
  const dear = { currency: 'EUR', input: 2, cachedInput: 1, output: 4 }
  expect(toUsage({ ...reply, by: { name: 'b', price: dear } }, 1, PRICE).costMicros).toBe(100 + 50 + 40)
  expect(toUsage({ ...reply, by: { name: 'b' } }, 1, PRICE).costMicros).toBe(50)
  expect(toUsage(reply, 1, undefined).costMicros).toBe(0)
})
