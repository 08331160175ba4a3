import type { ModelChoice } from '../../schemas/model-choice.ts'
import type { ModelConfig } from '../core/model.ts'
import type { Principal } from '../core/principal.ts'
import type { ConfigEditor } from './config-editor.ts'
import type { Environment } from './environment.ts'
import { toModelConfig } from './models.ts'

/** Creates what completes a chosen model, and makes it the default one of the config file. */
export function createModelFile({ change }: Pick<ConfigEditor, 'change'>, environment: Environment) {
  return {
    toEntry: (choice: ModelChoice): ModelConfig => toModelConfig(choice, environment),

    /** Writes the model. Throws as the editor does. */
    keep: (choice: ModelChoice, by: Principal) => change([[['model', 'default'], choice]], by),
  }
}
