import { z } from 'zod'
import { configFile } from '../../../schemas/config.ts'
import { createEnvironment } from '../../config/environment.ts'
import { loadConfig } from '../../config/load.ts'

const SECRET = /key|token|secret|password|authorization/i

/** Prints each value with where it came from; what may be secret is masked. */
export function printConfig(): void {
  const { origins, warnings, ...config } = loadConfig(createEnvironment())
  for (const [key, value] of Object.entries(config)) {
    const shown = value === undefined ? '(not set)' : JSON.stringify(mask(value, key))
    console.log(`${key}: ${shown}  # ${origins[key] ?? originOf(key)}`)
  }
  for (const warning of warnings) console.log(`# warning: ${warning}`)
}

function originOf(key: string): string {
  if (key === 'token') return 'SUPERBLOOM_TOKEN, else the file token in the data folder'
  if (key === 'publicUrl') return 'SUPERBLOOM_PUBLIC_URL'
  return key === 'configFile' ? 'SUPERBLOOM_CONFIG, else superbloom.yaml' : 'default'
}

/** Everything under a secret's name, and every value of env and headers, is hidden. */
function mask(value: unknown, key: string, inside = false): unknown {
  const hidden = inside || SECRET.test(key)
  if (typeof value === 'string') return hidden && value !== '' ? '***' : value
  if (Array.isArray(value)) return value.map(inner => mask(inner, key, inside))
  if (typeof value !== 'object' || value === null) return value
  const all = inside || key === 'env' || key === 'headers'
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mask(inner, name, all)]))
}

export function printSchema(): void {
  console.log(
    JSON.stringify(z.toJSONSchema(configFile, { io: 'input', unrepresentable: 'any' }), undefined, 2),
  )
}
