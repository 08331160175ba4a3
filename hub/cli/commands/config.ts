import type { Command } from 'commander'
import { z } from 'zod'
import { configFile } from '../../../schemas/config.ts'
import { describeConfig } from '../../config/describe-config.ts'
import { createEnvironment } from '../../config/environment.ts'
import { loadConfig } from '../../config/load.ts'
import { print, printJson } from '../print.ts'

export function define(command: Command): void {
  command.action(printConfig)
  command
    .command('schema')
    .description('print the JSON Schema of superbloom.yaml')
    .action(() => printJson(z.toJSONSchema(configFile, { io: 'input', unrepresentable: 'any' })))
}

/** Prints each value with its source. */
function printConfig(): void {
  const environment = createEnvironment()
  const config = loadConfig(environment)
  for (const { key, value = '(not set)', origin } of describeConfig(config, environment))
    print(`${key}: ${value}  # ${origin}`)
  for (const warning of config.warnings) print(`# warning: ${warning}`)
}
