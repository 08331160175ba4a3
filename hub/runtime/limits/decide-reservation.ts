import type { Price } from '../../core/model.ts'
import { toMicros } from './prices.ts'

/** Tokens of the smallest reply that is worth its request. */
const SMALLEST_REPLY = 256

export type LimitKey = 'limits.tokens' | DayLimitKey
export type DayLimitKey =
  | 'limits.tokensPerDay'
  | 'limits.moneyPerDay'
  | 'limits.wakesPerDay'
  | 'budget.tokensPerDay'
  | 'budget.moneyPerDay'

/** A limit with what counts against it: tokens, or money in millionths. */
export interface Bound {
  key: LimitKey
  unit: 'tokens' | 'micros'
  value: number
  spent: number
  /** Amount that calls which run now may still use. */
  reserved: number
}

export interface PlannedCall {
  /** Tokens of the request. */
  input: number
  /** Most tokens of the reply. */
  maxOutput: number
  price: Price | undefined
}

export type Decision =
  /** The call fits, and its reply may have so many tokens. */
  | { kind: 'fits'; maxOutput: number }
  /** The call would fit if calls that run now used less than they may. */
  | { kind: 'wait' }
  | { kind: 'full'; bound: Bound }

/** Decides whether a call may be made: not if it could exceed a limit. A short reply is better than none. */
export function decideReservation(bounds: readonly Bound[], call: PlannedCall): Decision {
  const least = Math.min(SMALLEST_REPLY, call.maxOutput)
  const rooms = bounds.map(bound => roomFor(bound, call, bound.spent + bound.reserved))
  const maxOutput = Math.min(call.maxOutput, ...rooms)
  if (maxOutput >= least) return { kind: 'fits', maxOutput }
  const full = bounds
    .map(bound => ({ bound, room: roomFor(bound, call, bound.spent) }))
    .sort((one, other) => one.room - other.room)[0]
  return full && full.room < least ? { kind: 'full', bound: full.bound } : { kind: 'wait' }
}

/** Returns the value that the limit needs if the call would not fit an unused one; undefined if it would. */
export function neverFits(bound: Bound, call: PlannedCall): number | undefined {
  if (roomFor(bound, call, 0) >= Math.min(SMALLEST_REPLY, call.maxOutput)) return undefined
  const { input, maxOutput, price } = call
  return bound.unit === 'tokens'
    ? input + maxOutput
    : toMicros({ input, output: maxOutput, cachedInput: 0 }, price)
}

/** Returns how many tokens a request may have beside a small reply. */
export function roomForInput({ unit, value, spent }: Bound, { maxOutput, price }: PlannedCall): number {
  const least = Math.min(SMALLEST_REPLY, maxOutput)
  const left = value - spent
  if (unit === 'tokens') return left - least
  if (!price || price.input === 0) return Number.POSITIVE_INFINITY
  return Math.floor((left - least * price.output) / price.input)
}

/** Returns how many tokens a reply may have; below zero if not even the request fits. */
function roomFor({ unit, value }: Bound, { input, price }: PlannedCall, used: number): number {
  if (unit === 'tokens') return value - used - input
  if (!price) return Number.POSITIVE_INFINITY
  const left = value - used - Math.ceil(input * price.input)
  if (left < 0 || price.output === 0) return left < 0 ? -1 : Number.POSITIVE_INFINITY
  return Math.floor(left / price.output)
}
