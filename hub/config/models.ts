import { type ConfigFile, limitToMilliseconds, type ModelEntryFile } from '../../schemas/config.ts'
import { KEY_VARIABLES, PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../schemas/providers.ts'
import type { Price } from '../core/model.ts'
import type { Environment } from './environment.ts'
import { toContext, toHttpUrl, toKey, toModelName } from './variable-values.ts'

/** A model as it is configured. Sizes that nobody wrote are asked of its provider. */
export interface ModelConfig {
  provider: ProviderName
  baseUrl: string
  apiKey?: string
  model: string
  context?: number
  maxOutput?: number
  price?: Price
  reasoning?: 'none' | 'low' | 'medium' | 'high'
  temperature?: number
  vision?: boolean
  /** Milliseconds until the answer begins. */
  timeout?: number
  headers?: Readonly<Record<string, string>>
  body?: Readonly<Record<string, unknown>>
}

/** The models that think; the others are as configured as the first. */
export interface ModelsConfig {
  default: ModelConfig
  fallback: readonly ModelConfig[]
  compaction: ModelConfig | undefined
  /** Those that agent files choose by name. */
  named: Readonly<Record<string, ModelConfig>>
}

/** Every model that may think or summarise. */
export function allModels(models: ModelsConfig | undefined): ModelConfig[] {
  if (!models) return []
  const { fallback, compaction, named } = models
  return [models.default, ...fallback, ...(compaction ? [compaction] : []), ...Object.values(named)]
}

/** Whether all of them have prices: only then can money be limited. */
export function hasPrices(models: ModelsConfig | undefined): boolean {
  return models !== undefined && allModels(models).every(({ price }) => price !== undefined)
}

export interface DecidedModels {
  models: ModelsConfig | undefined
  /** Where they come from. */
  origin: string
  warnings: string[]
}

/** The models of the file, else of the environment; none where neither names one. */
export function decideModels(
  file: ConfigFile['model'],
  environment: Environment,
  path: string | undefined,
): DecidedModels {
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

/** A model of the environment: `<provider>/<model>` where that provider's key is set, else the model of OPENAI_BASE_URL. */
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

/** The provider before the first slash of a model's name, where that is one whose key is set. */
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

function toModelConfig(entry: ModelEntryFile, environment: Environment): ModelConfig {
  const { price, timeout, apiKey, vision, ...rest } = entry
  const provider = entry.provider ?? providerAt(entry.baseUrl)
  const known = PROVIDERS[provider]
  const baseUrl = entry.baseUrl ?? ('baseUrl' in known ? known.baseUrl : '')
  // A key goes to nobody but the provider that it is of.
  const own = providerAt(baseUrl) === provider && provider !== 'compatible'
  const key = apiKey || (own ? keyOf(known.keyVariable, environment) : undefined)
  const { reasoning, temperature, headers, body, model, context, maxOutput } = rest
  return {
    provider,
    baseUrl,
    ...(key ? { apiKey: key } : {}),
    model,
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(price ? { price: { ...price, cachedInput: price.cachedInput ?? price.input } } : {}),
    ...(reasoning ? { reasoning } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(vision === undefined ? {} : { vision }),
    ...(timeout === undefined ? {} : { timeout: limitToMilliseconds(timeout) }),
    ...(headers ? { headers } : {}),
    ...(body ? { body } : {}),
  }
}

function providerAt(baseUrl: string | undefined): ProviderName {
  const host = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.hostname
  const hostsOf = (name: ProviderName): readonly string[] => PROVIDERS[name].hosts
  return PROVIDER_NAMES.find(name => host !== undefined && hostsOf(name).includes(host)) ?? 'compatible'
}
