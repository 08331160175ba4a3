import { dayOf } from '../../core/clock.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import type { Bound } from './room.ts'

const MILLION = 1_000_000

/** Returns an agent's limits of a day, with what counts against each. The meter must have opened the day. */
export function dayBounds(deps: RuntimeDeps, agent: RuntimeAgent, day: string): Bound[] {
  const { limits } = agent
  const { tokensPerDay, moneyPerDay } = deps.budget()
  const whose = (name?: string) => ({
    spent: deps.meter.spent(day, name),
    reserved: deps.meter.reserved(day, name),
  })
  const own = whose(agent.name)
  const all = whose()
  const tokens = (key: Bound['key'], value: number | undefined, { spent, reserved }: typeof own): Bound[] =>
    value === undefined
      ? []
      : [{ key, unit: 'tokens', value, spent: spent.tokens, reserved: reserved.tokens }]
  const money = (key: Bound['key'], value: number | undefined, { spent, reserved }: typeof own): Bound[] =>
    value === undefined
      ? []
      : [
          {
            key,
            unit: 'micros',
            value: Math.round(value * MILLION),
            spent: spent.micros,
            reserved: reserved.micros,
          },
        ]
  return [
    ...tokens('limits.tokensPerDay', limits.tokensPerDay, own),
    ...money('limits.moneyPerDay', limits.moneyPerDay, own),
    ...tokens('budget.tokensPerDay', tokensPerDay, all),
    ...money('budget.moneyPerDay', moneyPerDay, all),
  ]
}

/** Returns today in the zone of the config, once the meter has opened it. */
export async function openToday(deps: RuntimeDeps): Promise<string> {
  const day = dayOf(deps.clock.now(), deps.timezone)
  await deps.meter.open(day)
  return day
}
