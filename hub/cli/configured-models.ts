import type { ModelConfig, ModelsConfig } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { knownModel } from '../model/known-models.ts'
import { askReported, type LocalServer, type Reported } from '../model/reported.ts'
import { decideSizes, type Sizes } from '../model/sizes.ts'

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

/** A model with all that is known of it. */
export interface LookedUpModel {
  sizes: Sizes
  reported: Reported | undefined
  server: LocalServer | undefined
  /** Why its provider says nothing of it. */
  why: string | undefined
}

/** Asks a model's provider what it has. Never throws. */
export async function lookUp(entry: WrittenModel): Promise<LookedUpModel> {
  const answer = await askReported({ ...entry, clock: systemClock })
  const { reported, server } = 'why' in answer ? {} : answer
  const provider = entry.provider ?? providerOf(entry.baseUrl)
  return {
    sizes: decideSizes(entry, reported, knownModel(provider, entry.model)),
    reported,
    server,
    why: 'why' in answer ? answer.why : undefined,
  }
}

/** Hosts that mean a native provider. */
const HOSTS: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'api.mistral.ai': 'mistral',
  'api.deepseek.com': 'deepseek',
}

function providerOf(baseUrl: string): string {
  return HOSTS[URL.parse(baseUrl)?.host ?? ''] ?? 'compatible'
}
