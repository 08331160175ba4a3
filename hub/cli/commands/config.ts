import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { z } from 'zod'
import { configFile } from '../../../schemas/config.ts'
import { createEnvironment } from '../../config/environment.ts'
import { loadConfig } from '../../config/load.ts'
import { textsExpanded } from '../../config/yaml-file.ts'
import { maskSecrets } from '../../core/mask-secrets.ts'
import { print, printJson } from '../print.ts'

export function define(command: Command): void {
  command.action(printConfig)
  command
    .command('schema')
    .description('print the JSON Schema of superbloom.yaml')
    .action(() => printJson(z.toJSONSchema(configFile, { io: 'input', unrepresentable: 'any' })))
}

/** Prints each value with its source; possible secrets are masked. */
function printConfig(): void {
  const environment = createEnvironment()
  const { origins, warnings, ...config } = loadConfig(environment)
  const file = config.configFile
  const written =
    file === undefined ? undefined : textsExpanded({ file, text: readFileSync(file, 'utf8') }, environment)
  for (const [key, value] of Object.entries(config)) {
    const origin = origins[key] ?? ORIGINS[key] ?? 'default'
    const isOfFile = file !== undefined && origin.startsWith(file)
    const masked = maskSecrets(value, key, isOfFile ? written : undefined)
    print(`${key}: ${value === undefined ? '(not set)' : JSON.stringify(masked)}  # ${origin}`)
  }
  for (const warning of warnings) print(`# warning: ${warning}`)
}

/** Sources of values that are not recorded with them. */
const ORIGINS: Record<string, string> = {
  token: 'SUPERBLOOM_TOKEN, else the file token in the data folder',
  publicUrl: 'SUPERBLOOM_PUBLIC_URL',
  configFile: 'SUPERBLOOM_CONFIG, else superbloom.yaml',
}
