import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const ADDED = /^(npm_|NODE_OPTIONS$|NODE_ENV$|VITEST)/

/** Returns the variables of a person's shell: this process's own without those that npm and vitest add. */
export function outsideNpm(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !ADDED.test(entry[0]),
  )
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(path => !path.includes('node_modules'))
  return { ...Object.fromEntries(kept), PATH: folders.join(delimiter) }
}

/** Returns the machine's own `node`, whatever npm has put before it in the search path. */
export function systemNode(): string | undefined {
  const folders = (outsideNpm()['PATH'] ?? '').split(delimiter)
  const found = folders.map(folder => join(folder, 'node')).find(existsSync)
  return found && realpathSync(found)
}
