import { dayOf, nextDayStart, toLocal } from '../../core/clock.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import type { Bound } from './room.ts'

/** A limit stands in the way. `text` tells people which, what it is, what was used, and how to raise it. */
export class LimitReached extends Error {
  readonly data: Record<string, unknown>

  /** It holds until the next day. */
  get isOfDay(): boolean {
    return this.data['until'] !== undefined
  }

  constructor(text: string, data: Record<string, unknown>) {
    super(text)
    this.name = 'LimitReached'
    this.data = data
  }
}

/** The reservation of the call that did not fit is not part of what was used. */
export function toLimitReached(
  deps: RuntimeDeps,
  agent: RuntimeAgent,
  bound: Omit<Bound, 'reserved'>,
): LimitReached {
  const now = deps.clock.now()
  const { currency } = deps.budget()
  const show = (amount: number) => describeAmount(amount, bound.unit, currency)
  const place = `${bound.key} in ${bound.key.startsWith('budget.') ? deps.budget().file : `agents/${agent.name}.md`}`
  const used = `${show(bound.spent)} of ${show(bound.value)} are used, and another call of the model may not fit.`
  const limit = { limit: bound.key, value: toValue(bound, bound.value), used: toValue(bound, bound.spent) }
  if (bound.key === 'limits.tokens') {
    return new LimitReached(
      `I stopped at the limit of one cycle: ${used} Raise ${place}, or tell me to go on.`,
      limit,
    )
  }
  const until = nextDayStart(now, deps.timezone)
  const whose = bound.key.startsWith('budget.') ? 'the limit of a day for all agents' : 'my limit of a day'
  return new LimitReached(
    `I stopped at ${whose}: ${used} I rest until ${toLocal(until, deps.timezone)} (${deps.timezone}); what comes meanwhile waits. To have me go on before, raise ${place}.`,
    { ...limit, day: dayOf(now, deps.timezone), until },
  )
}

/** The limit on cycles that no person asked for. */
export function toWakesReached(deps: RuntimeDeps, agent: RuntimeAgent, used: number): LimitReached {
  const now = deps.clock.now()
  const until = nextDayStart(now, deps.timezone)
  const value = agent.limits.wakesPerDay
  return new LimitReached(
    `I have woken ${used} times today without a person's message; the limit is ${value}. Wake-ups and events wait until ${toLocal(until, deps.timezone)} (${deps.timezone}), or until somebody writes to me. To have them wake me before, raise limits.wakesPerDay in agents/${agent.name}.md.`,
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
