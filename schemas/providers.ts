/** A provider's addresses, and the environment's variable with its key. */
interface ProviderAddress {
  /** Hosts of a `baseUrl` by which the provider is recognised. */
  hosts: readonly string[]
  baseUrl?: string
  keyVariable: string
  /** True where nearly all of its models take pictures. */
  sees?: true
  /** True where its list has no sizes or wants another kind of key; known-models.ts has its models. */
  listsNames?: true
}

/** Every provider that a model's entry may name; `hub/model/providers` has a file for each. */
export const PROVIDERS = {
  openai: {
    hosts: ['api.openai.com'],
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    sees: true,
    listsNames: true,
  },
  anthropic: {
    hosts: ['api.anthropic.com'],
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    sees: true,
    listsNames: true,
  },
  google: {
    hosts: ['generativelanguage.googleapis.com'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
    sees: true,
    listsNames: true,
  },
  mistral: {
    hosts: ['api.mistral.ai'],
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
  },
  deepseek: {
    hosts: ['api.deepseek.com'],
    baseUrl: 'https://api.deepseek.com',
    keyVariable: 'DEEPSEEK_API_KEY',
    listsNames: true,
  },
  openrouter: {
    hosts: ['openrouter.ai'],
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  compatible: { hosts: [], keyVariable: 'OPENAI_API_KEY' },
} as const satisfies Record<string, ProviderAddress>

export type ProviderName = keyof typeof PROVIDERS

/** Returns what is known of a provider; undefined for a name that is none. */
export function providerOf(name: string | undefined): ProviderAddress | undefined {
  return PROVIDERS[name as ProviderName]
}

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [ProviderName, ...ProviderName[]]

/** Variables of the environment that hold keys, each once. */
export const KEY_VARIABLES = [...new Set(PROVIDER_NAMES.map(name => PROVIDERS[name].keyVariable))]
