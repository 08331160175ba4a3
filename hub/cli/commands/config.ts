import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { configFile } from '../../../schemas/config.ts'
import { createEnvironment } from '../../config/environment.ts'
import { loadConfig } from '../../config/load.ts'
import { textsExpanded } from '../../config/yaml-file.ts'
import { maskSecrets } from '../mask-secrets.ts'
import { print } from '../print.ts'

/** Prints each value with its source; possible secrets are masked. */
export function printConfig(): void {
  const environment = createEnvironment()
  const { origins, warnings, ...config } = loadConfig(environment)
  const file = config.configFile
  const written =
    file === undefined ? undefined : textsExpanded({ file, text: readFileSync(file, 'utf8') }, environment)
  for (const [key, value] of Object.entries(config)) {
    const origin = origins[key] ?? originOf(key)
    const isOfFile = file !== undefined && origin.startsWith(file)
    const masked = maskSecrets(value, key, isOfFile ? written : undefined)
    print(`${key}: ${value === undefined ? '(not set)' : JSON.stringify(masked)}  # ${origin}`)
  }
  for (const warning of warnings) print(`# warning: ${warning}`)
}

function originOf(key: string): string {
  if (key === 'token') return 'SUPERBLOOM_TOKEN, else the file token in the data folder'
  if (key === 'publicUrl') return 'SUPERBLOOM_PUBLIC_URL'
  return key === 'configFile' ? 'SUPERBLOOM_CONFIG, else superbloom.yaml' : 'default'
}

export function printSchema(): void {
  print(JSON.stringify(z.toJSONSchema(configFile, { io: 'input', unrepresentable: 'any' }), undefined, 2))
}
