import { existsSync, readFileSync } from 'node:fs'
import type { ModelChoice } from '../../schemas/model-choice.ts'
import type { ModelConfig } from '../core/model.ts'
import type { Principal } from '../core/principal.ts'
import { setKey } from './edit-yaml.ts'
import type { Environment } from './environment.ts'
import type { LiveConfig } from './live-config.ts'
import { toModelConfig } from './models.ts'
import { rewriteConfig } from './rewrite-config.ts'

/** Creates what completes a chosen model, and makes it the default one of the config file. */
export function createModelFile(
  { file, check }: Pick<LiveConfig, 'file' | 'check'>,
  environment: Environment,
  onChange: (file: string, by: Principal) => Promise<void>,
) {
  return {
    toEntry: (choice: ModelChoice): ModelConfig => toModelConfig(choice, environment),

    /**
     * Writes the model; what else stands in the file stays. Throws `conflict` where the file cannot be changed safely,
     * `bad_request` where it would be wrong, and `unavailable` where it cannot be written.
     */
    async keep(choice: ModelChoice, by: Principal): Promise<{ file: string }> {
      const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
      const text = setKey({ file, text: before }, ['model', 'default'], choice)
      check(text)
      rewriteConfig(file, text)
      await onChange(file, by)
      return { file }
    },
  }
}
