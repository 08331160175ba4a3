import { HubError } from '../core/errors.ts'
import type { Price } from '../core/model.ts'
import type { Config, ModelConfig, ModelsConfig } from './load.ts'

/** What all agents together may use in a day, and where to change it. */
export function budgetOf({ budget, model, configFile }: Pick<Config, 'budget' | 'model' | 'configFile'>) {
  const prices = model ? askedModels(model).flatMap(({ price }) => price ?? []) : []
  return {
    ...budget,
    currency: model?.default.price?.currency,
    dearest: prices.length > 0 ? dearestOf(prices) : undefined,
    file: configFile ?? 'superbloom.yaml',
  }
}

function askedModels(model: ModelsConfig): ModelConfig[] {
  return [model.default, ...model.fallback, ...(model.compaction ? [model.compaction] : [])]
}

/** A call may go to a fallback, so that the highest of each price is kept for it. */
function dearestOf(prices: readonly Price[]): Price {
  const most = (of: (price: Price) => number) => Math.max(...prices.map(of))
  return {
    currency: prices[0]?.currency ?? '',
    input: most(price => price.input),
    cachedInput: most(price => price.cachedInput),
    output: most(price => price.output),
  }
}

/** Whether every model that may be asked has a price, in one currency: only then money can be limited. */
export function hasPrices({ model }: Pick<Config, 'model'>): boolean {
  if (!model) return false
  const currencies = new Set(askedModels(model).map(({ price }) => price?.currency))
  return currencies.size === 1 && !currencies.has(undefined)
}

/** A limit on money that nothing can be held against would be no limit. */
export function checkMoney(config: Pick<Config, 'budget' | 'model' | 'configFile'>): void {
  if (config.budget.moneyPerDay === undefined || hasPrices(config)) return
  throw new HubError(
    'bad_request',
    `${config.configFile}: budget.moneyPerDay: needs model.default with a price {currency, input, output}, and one in the same currency for each model beside it`,
  )
}
