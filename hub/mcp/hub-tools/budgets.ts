import { z } from 'zod'
import { plural } from '../../core/text.ts'

const used = z.object({ used: z.number(), limit: z.number().optional() })

/** The present day's use, with its limits. */
export const budgets = z.object({
  day: z.string().describe("of the config's time zone"),
  currency: z.string().optional(),
  tokens: used,
  money: used,
  agents: z.array(z.object({ name: z.string(), tokens: used, money: used, wakes: used })),
})
export type Budgets = z.infer<typeof budgets>

/** Describes today's use in lines for a person: of all, then of each agent that did something. */
export function describeBudgets({ currency = '', tokens, money, agents }: Budgets): string[] {
  const amounts = (one: Pick<Budgets, 'tokens' | 'money'>) => {
    const spent = one.money.used > 0 || one.money.limit !== undefined
    return `${describe(one.tokens)} tokens${spent ? `, ${`${describe(one.money)} ${currency}`.trim()}` : ''}`
  }
  return [
    `Today: ${amounts({ tokens, money })}`,
    ...agents
      .filter(one => one.tokens.used > 0 || one.wakes.used > 0)
      .map(one => `  ${one.name}: ${amounts(one)}, woken ${plural(one.wakes.used, 'time')}`),
  ]
}

function describe({ used: amount, limit }: z.infer<typeof used>): string {
  const show = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 4 })
  return limit === undefined ? show(amount) : `${show(amount)} of ${show(limit)}`
}
