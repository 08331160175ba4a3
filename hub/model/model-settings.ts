import type { AskedServer, FoundModels, ModelChoice, ModelFinding } from '../../schemas/model-choice.ts'
import { systemTimezone } from '../core/clock.ts'
import type { ModelConfig } from '../core/model.ts'
import type { Principal } from '../core/principal.ts'
import { findModels } from './find-models.ts'
import { LOCAL_SERVERS } from './local-servers.ts'
import { type TrialRequest, tryEntry } from './try-entry.ts'

interface ModelSettingsDeps extends Pick<TrialRequest, 'clock' | 'estimate'> {
  environment: (name: string) => string | undefined
  /** The prompt and tools of the default agent. */
  request: () => Pick<TrialRequest, 'system' | 'tools'> | undefined
}

interface ModelFile {
  /** Fills in what an entry of the config leaves out. */
  toEntry: (choice: ModelChoice) => ModelConfig
  keep: (choice: ModelChoice, by: Principal) => Promise<{ file: string }>
}

const NO_AGENT: ModelFinding = {
  level: 'problem',
  what: 'cannot be tried: there is no agent whose request could be sent',
}

/** Creates what finds, tries and keeps the default model. */
export function createModelSettings(deps: ModelSettingsDeps & ModelFile) {
  const { clock, estimate, environment, request, toEntry, keep } = deps
  return {
    async find(asked: AskedServer): Promise<FoundModels> {
      const { baseUrl, apiKey } = asked
      const { servers, keys } = await findModels({
        environment,
        clock,
        ...(baseUrl === undefined ? {} : { addresses: [baseUrl.replace(/\/$/, '')] }),
        apiKey,
      })
      return {
        keys,
        servers: servers.map(({ server, ...rest }) => ({
          ...rest,
          ...(server ? { program: LOCAL_SERVERS[server].title } : {}),
        })),
      }
    },
    async try(choice: ModelChoice): Promise<ModelFinding[]> {
      const first = request()
      if (!first) return [NO_AGENT]
      return tryEntry(toEntry(choice), { ...first, clock, estimate, timezone: systemTimezone() })
    },
    keep,
  }
}
