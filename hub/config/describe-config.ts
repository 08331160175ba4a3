import { readFileSync } from 'node:fs'
import { maskSecrets } from '../core/mask-secrets.ts'
import type { Environment } from './environment.ts'
import type { Config } from './load.ts'
import { textsExpanded } from './yaml-file.ts'

/** A value of the effective config, for people. */
export interface DescribedValue {
  key: string
  /** JSON without secrets; undefined where it is not set. */
  value: string | undefined
  /** A file, the name of a variable, or `default`. */
  origin: string
}

/** Sources of values that are not recorded with them. */
const ORIGINS: Record<string, string> = {
  token: 'SUPERBLOOM_TOKEN, else the file token in the data folder',
  publicUrl: 'SUPERBLOOM_PUBLIC_URL',
  store: 'SUPERBLOOM_STORE, else superbloom.db in the data folder',
  configFile: 'SUPERBLOOM_CONFIG, else superbloom.yaml',
}

/** Returns each value of the config with its source; possible secrets are masked. */
export function describeConfig(effective: Config, environment: Environment): DescribedValue[] {
  const { origins, warnings: _, ...config } = effective
  const file = config.configFile
  const written =
    file === undefined ? undefined : textsExpanded({ file, text: readFileSync(file, 'utf8') }, environment)
  return Object.entries(config).map(([key, value]) => {
    const origin = origins[key] ?? ORIGINS[key] ?? 'default'
    const isOfFile = file !== undefined && origin.startsWith(file)
    const masked = JSON.stringify(maskSecrets(value, key, isOfFile ? written : undefined))
    return { key, value: value === undefined ? undefined : masked, origin }
  })
}
