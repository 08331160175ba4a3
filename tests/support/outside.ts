import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const ADDED = /^(npm_|NODE_OPTIONS$|NODE_ENV$|VITEST)/

/** This process's variables as a person's shell has them: without what npm and vitest add. */
export function outsideNpm(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !ADDED.test(entry[0]),
  )
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(path => !path.includes('node_modules'))
  return { ...Object.fromEntries(kept), PATH: folders.join(delimiter) }
}

/** The `node` that this machine itself has, whatever npm put before it in the search path. */
export function systemNode(): string | undefined {
  const folders = (outsideNpm()['PATH'] ?? '').split(delimiter)
  const found = folders.map(folder => join(folder, 'node')).find(existsSync)
  return found && realpathSync(found)
}
