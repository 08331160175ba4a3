import { modelsOf } from '../../schemas/config.ts'
import type { Price } from '../core/model.ts'
import type { Config } from './load.ts'

/** Returns the budget that all agents share for a day, and the file that sets it. */
export function budgetOf({ budget, model, configFile }: Pick<Config, 'budget' | 'model' | 'configFile'>) {
  const prices = modelsOf(model).flatMap(({ price }) => price ?? [])
  return {
    ...budget,
    currency: model?.default.price?.currency,
    dearest: prices.length > 0 ? dearestOf(prices) : undefined,
    file: configFile ?? 'superbloom.yaml',
  }
}

/** Returns the highest of each price, which is reserved because a call may go to a fallback. */
function dearestOf(prices: readonly Price[]): Price {
  const most = (of: (price: Price) => number) => Math.max(...prices.map(of))
  return {
    currency: prices[0]?.currency ?? '',
    input: most(price => price.input),
    cachedInput: most(price => price.cachedInput),
    output: most(price => price.output),
  }
}
