import type { ConfigFile } from '../../schemas/config.ts'
import { limitToMilliseconds } from '../../schemas/duration.ts'
import { type ModelEntryFile, modelsOf } from '../../schemas/models.ts'
import { KEY_VARIABLES, PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../schemas/providers.ts'
import type { ModelConfig, ModelsConfig, Price } from '../core/model.ts'
import type { Environment } from './environment.ts'
import type { Config } from './load.ts'
import { toContext, toHttpUrl, toKey, toModelName } from './variable-values.ts'

/** Tells whether all models have prices; a limit on money needs them all. */
export function hasPrices(models: ModelsConfig | undefined): boolean {
  return models !== undefined && modelsOf(models).every(({ price }) => price !== undefined)
}

/**
 * Returns the models of the file, else of the environment; none where neither names one. `origin` is the file
 * or variable that names them.
 */
export function decideModels(
  file: ConfigFile['model'],
  environment: Environment,
  path: string | undefined,
): { models: ModelsConfig | undefined; origin: string; warnings: string[] } {
  const summaries = modelOf('SUPERBLOOM_COMPACTION_MODEL', environment)
  const context = toContext(environment('SUPERBLOOM_MODEL_CONTEXT'))
  if (file) {
    const toModel = (entry: ModelEntryFile) => toModelConfig(entry, environment)
    const first = toModel(file.default)
    const cheaper = summaries === undefined ? undefined : { ...first, model: summaries }
    return {
      models: {
        default: first,
        fallback: file.fallback.map(toModel),
        compaction: file.compaction ? toModel(file.compaction) : cheaper,
        named: Object.fromEntries(Object.entries(file.named).map(([name, entry]) => [name, toModel(entry)])),
      },
      origin: cheaper && !file.compaction ? `${path}, SUPERBLOOM_COMPACTION_MODEL` : (path ?? 'default'),
      warnings: [],
    }
  }
  const model = modelOf('SUPERBLOOM_MODEL', environment)
  if (!model) {
    const variables = ['OPENAI_BASE_URL', ...KEY_VARIABLES]
    const set = variables.filter(environment)
    const warning = `${set.join(' and ')} set without SUPERBLOOM_MODEL: the built-in commands answer`
    return { models: undefined, origin: 'default', warnings: set.length > 0 ? [warning] : [] }
  }
  const first = toModelConfig({ ...fromVariable(model, environment), context }, environment)
  const compaction = summaries && {
    ...first,
    ...(hasPrefix(summaries, environment)
      ? toModelConfig({ ...fromVariable(summaries, environment), context }, environment)
      : { model: summaries }),
  }
  return {
    models: { default: first, fallback: [], compaction: compaction || undefined, named: {} },
    origin: 'SUPERBLOOM_MODEL',
    warnings: warnOfPrefix(model, first, environment),
  }
}

/**
 * Reads a model of the environment: `<provider>/<model>` if that provider has a key, else of OPENAI_BASE_URL.
 */
function fromVariable(
  text: string,
  environment: Environment,
): Pick<ModelEntryFile, 'provider' | 'baseUrl' | 'apiKey' | 'model'> {
  const prefix = hasPrefix(text, environment)
  if (prefix) return { provider: prefix, model: text.slice(prefix.length + 1) }
  const baseUrl = toHttpUrl('OPENAI_BASE_URL', environment('OPENAI_BASE_URL') ?? PROVIDERS.openai.baseUrl)
  return { baseUrl, apiKey: keyOf('OPENAI_API_KEY', environment), model: text }
}

function modelOf(variable: string, environment: Environment): string | undefined {
  const name = environment(variable)
  return name === undefined ? undefined : toModelName(variable, name)
}

function keyOf(variable: string, environment: Environment): string | undefined {
  return toKey(variable, environment(variable))
}

/** Returns the provider before the first slash of a model's name, if its key is set. */
function hasPrefix(text: string, environment: Environment): ProviderName | undefined {
  if (environment('OPENAI_BASE_URL') !== undefined) return undefined
  const prefix = prefixOf(text)
  return prefix && environment(PROVIDERS[prefix].keyVariable) !== undefined ? prefix : undefined
}

function prefixOf(text: string): ProviderName | undefined {
  return PROVIDER_NAMES.find(name => name !== 'compatible' && text.startsWith(`${name}/`))
}

function warnOfPrefix(text: string, { provider }: ModelConfig, environment: Environment): string[] {
  const prefix = prefixOf(text)
  if (!prefix || prefix === provider || environment('OPENAI_BASE_URL') !== undefined) return []
  const { keyVariable } = PROVIDERS[prefix]
  return [`SUPERBLOOM_MODEL begins with "${prefix}/", but ${keyVariable} is not set: OpenAI is asked for it`]
}

/** Returns an entry with its provider, address and key. */
export function toModelConfig(entry: ModelEntryFile, environment: Environment): ModelConfig {
  const { price, timeout } = entry
  const provider = entry.provider ?? providerAt(entry.baseUrl)
  const known = PROVIDERS[provider]
  const baseUrl = entry.baseUrl ?? ('baseUrl' in known ? known.baseUrl : '')
  // A key is sent only to the provider that it belongs to.
  const own = providerAt(baseUrl) === provider && provider !== 'compatible'
  return {
    ...entry,
    provider,
    baseUrl,
    apiKey: entry.apiKey || (own ? keyOf(known.keyVariable, environment) : undefined),
    price: price && { ...price, cachedInput: price.cachedInput ?? price.input },
    timeout: timeout === undefined ? undefined : limitToMilliseconds(timeout),
  }
}

function providerAt(baseUrl: string | undefined): ProviderName {
  const host = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.hostname
  const hostsOf = (name: ProviderName): readonly string[] => PROVIDERS[name].hosts
  return PROVIDER_NAMES.find(name => host !== undefined && hostsOf(name).includes(host)) ?? 'compatible'
}

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
