import { resolve } from 'node:path'
import { quoteForShell } from '../core/text.ts'
import { packageFolder } from './paths.ts'

interface ClientOptions {
  dataFolder: string
  lean?: boolean | undefined
  toolset?: string | undefined
}

/**
 * Returns what to paste for a client on the hub's machine, with absolute paths: clients start processes in folders of
 * their own.
 */
export function describeClient(client: string, { dataFolder, lean, toolset }: ClientOptions): string {
  const command = process.execPath
  const args = [resolve(packageFolder, 'bin', 'superbloom.js'), 'mcp', '--as', client]
  if (lean) args.push('--lean')
  if (toolset !== undefined) args.push('--toolset', toolset)
  const entry = { command, args, env: { SUPERBLOOM_DATA: dataFolder } }
  switch (client) {
    case 'claude-code':
      return `claude mcp add superbloom --env SUPERBLOOM_DATA=${quoteForShell(dataFolder)} -- ${[command, ...args].map(quoteForShell).join(' ')}`
    case 'vscode':
      return toJson({ servers: { superbloom: { type: 'stdio', ...entry } } })
    default:
      return toJson({ mcpServers: { superbloom: entry } })
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
}
