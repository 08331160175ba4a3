import type { ModelConfig, ModelsConfig } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import type { FoundServer } from '../model/find-models.ts'
import { type LookedUpModel, lookUp } from '../model/sizes.ts'

/** A model of the configuration as it is written there. */
export interface WrittenModel extends Omit<ModelConfig, 'context' | 'maxOutput'> {
  provider?: string
  context?: number
  maxOutput?: number
  vision?: boolean
  headers?: Readonly<Record<string, string>>
}

export interface NamedModel {
  /** `default`, `fallback 1`, `compaction`, or the name that the configuration gives it. */
  name: string
  entry: WrittenModel
}

/** Every model of the configuration, in the order in which they are asked. */
export function listConfigured(
  models: (ModelsConfig & { named?: Readonly<Record<string, ModelConfig>> }) | undefined,
): NamedModel[] {
  if (!models) return []
  const { default: first, fallback, compaction, named = {} } = models
  return [
    { name: 'default', entry: first },
    ...fallback.map((entry, index) => ({ name: `fallback ${index + 1}`, entry })),
    ...(compaction ? [{ name: 'compaction', entry: compaction }] : []),
    ...Object.entries(named).map(([name, entry]) => ({ name, entry })),
  ]
}

/**
 * A model by its name in the configuration or by its own, there or on a server of this machine; without a name the
 * configured one, else the first that answers.
 */
export function chooseModel(
  wanted: string | undefined,
  configured: readonly NamedModel[],
  servers: readonly FoundServer[],
): WrittenModel | undefined {
  const name = wanted ?? 'default'
  const written =
    configured.find(one => one.name === name) ?? configured.find(({ entry }) => entry.model === name)
  if (written) return written.entry
  const found = servers.flatMap(({ baseUrl, models }) => models.map(model => ({ baseUrl, model })))
  return wanted === undefined ? found[0] : found.find(({ model }) => model === wanted)
}

/** Asks a model's provider what it has. Never throws. */
export function lookUpEntry(entry: WrittenModel): Promise<LookedUpModel> {
  return lookUp({ ...entry, provider: entry.provider ?? providerOf(entry.baseUrl), clock: systemClock })
}

/** Hosts that mean a native provider. */
const HOSTS: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'api.mistral.ai': 'mistral',
  'api.deepseek.com': 'deepseek',
}

function providerOf(baseUrl: string): string | undefined {
  return HOSTS[URL.parse(baseUrl)?.host ?? '']
}
