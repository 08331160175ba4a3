import { dayOf, nextDayStart, toLocal } from '../../core/clock.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { type Bound, neverFits, type PlannedCall, roomForInput } from './decide-reservation.ts'

/** A limit that was reached. `text` tells people its name, its value, what was used, and how to raise it. */
export class LimitReached extends Error {
  readonly data: Record<string, unknown>
  /** Tokens of a request that would fit; set if a shorter request helps more than waiting. */
  readonly fits: number | undefined

  constructor(text: string, data: Record<string, unknown>, fits?: number) {
    super(text)
    this.name = 'LimitReached'
    this.data = data
    this.fits = fits
  }

  /** Time at which the limit ends by itself, unix milliseconds; undefined for a limit of one cycle. */
  get until(): number | undefined {
    const { until } = this.data
    return typeof until === 'number' ? until : undefined
  }
}

type Deps = Pick<RuntimeDeps, 'clock' | 'timezone' | 'budget'>

/** Describes the limit that a call would exceed. The named usage leaves the call's reservation out. */
export function toLimitReached(
  deps: Deps,
  agent: RuntimeAgent,
  bound: Bound,
  call: PlannedCall,
): LimitReached {
  const now = deps.clock.now()
  const { currency } = deps.budget()
  const show = (amount: number) => describeAmount(amount, bound.unit, currency)
  const place = `${bound.key} in ${bound.key.startsWith('budget.') ? deps.budget().file : `agents/${agent.name}.md`}`
  const used = `${show(bound.spent)} of ${show(bound.value)} are used, and another call of the model may not fit.`
  const limit = { limit: bound.key, value: toValue(bound, bound.value), used: toValue(bound, bound.spent) }
  const needed = neverFits(bound, call)
  const raise = needed === undefined ? place : `${place} to at least ${show(needed)}`
  if (bound.key === 'limits.tokens') {
    return new LimitReached(
      `I stopped at the limit of one cycle: ${used} Raise ${raise}${needed === undefined ? ', or tell me to go on' : ''}.`,
      limit,
      roomForInput(bound, call),
    )
  }
  const until = nextDayStart(now, deps.timezone)
  const whose = bound.key.startsWith('budget.') ? 'the limit of a day for all agents' : 'my limit of a day'
  return new LimitReached(
    `I stopped at ${whose}: ${used} I rest until ${toLocal(until, deps.timezone)} (${deps.timezone}); what is written until then waits, and I answer it then. To have me go on before, raise ${raise}.`,
    { ...limit, day: dayOf(now, deps.timezone), until },
    needed === undefined ? undefined : roomForInput(bound, call),
  )
}

/** Describes the limit on cycles that no person asked for. */
export function toWakesReached(deps: Deps, agent: RuntimeAgent, used: number): LimitReached {
  const now = deps.clock.now()
  const until = nextDayStart(now, deps.timezone)
  const value = agent.limits.wakesPerDay
  return new LimitReached(
    `I have woken ${used} times today without a person's message; the limit is ${value}. Wake-ups and events wait until ${toLocal(until, deps.timezone)} (${deps.timezone}). To have them wake me before, raise limits.wakesPerDay in agents/${agent.name}.md.`,
    { limit: 'limits.wakesPerDay', value, used, day: dayOf(now, deps.timezone), until },
  )
}

function toValue({ unit }: Pick<Bound, 'unit'>, amount: number): number {
  return unit === 'micros' ? amount / 1_000_000 : amount
}

function describeAmount(amount: number, unit: Bound['unit'], currency: string | undefined): string {
  if (unit === 'tokens') return `${amount.toLocaleString('en')} tokens`
  const money = (amount / 1_000_000).toLocaleString('en', { maximumFractionDigits: 4 })
  return currency ? `${money} ${currency}` : money
}
