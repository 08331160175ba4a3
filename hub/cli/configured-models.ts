import type { ModelConfig, ModelsConfig } from '../core/model.ts'
import type { FoundServer } from '../model/find-models.ts'

export interface NamedModel {
  /** `default`, `fallback 1`, `compaction`, or the name in the configuration. */
  name: string
  entry: ModelConfig
}

/** Lists every model of the configuration, in the order in which they are asked. */
export function listConfigured(models: ModelsConfig | undefined): NamedModel[] {
  if (!models) return []
  const { default: first, fallback, compaction, named } = models
  return [
    { name: 'default', entry: first },
    ...fallback.map((entry, index) => ({ name: `fallback ${index + 1}`, entry })),
    ...(compaction ? [{ name: 'compaction', entry: compaction }] : []),
    ...Object.entries(named).map(([name, entry]) => ({ name, entry })),
  ]
}

/**
 * Finds a model by its name in the configuration or by the model's own, there or on a server of this machine.
 * Without a name it returns the configured default, else the first that answers.
 */
export function chooseModel(
  wanted: string | undefined,
  configured: readonly NamedModel[],
  servers: readonly FoundServer[],
): ModelConfig | undefined {
  const name = wanted ?? 'default'
  const written =
    configured.find(one => one.name === name) ?? configured.find(({ entry }) => entry.model === name)
  if (written) return written.entry
  const found = servers.flatMap(({ baseUrl, models }) =>
    models.map((model): ModelConfig => ({ provider: 'compatible', baseUrl, model })),
  )
  return wanted === undefined ? found[0] : found.find(({ model }) => model === wanted)
}
