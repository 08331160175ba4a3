import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installPackages } from '../setup/npm-packages.ts'

/**
 * Clients that are installed outside the repository, at exact versions; the first package of a group is the
 * client.
 */
export const GROUPS = {
  mcporter: { mcporter: '0.12.3' },
  'mcp-cli': { '@wong2/mcp-cli': '2.0.0' },
  'ai-sdk': { '@ai-sdk/mcp': '2.0.99' },
  'openai-agents': { '@openai/agents': '0.20.0' },
  langchain: { '@langchain/mcp-adapters': '1.1.4' },
  'mcp-client': { 'mcp-client': '1.13.1' },
  // @mcpjam/sdk is built on an early version.
  mcpjam: { '@mcpjam/sdk': '1.14.0', '@modelcontextprotocol/client': '2.0.0-alpha.2' },
  'gemini-cli': { '@google/gemini-cli': '0.61.0' },
  'claude-code': { '@anthropic-ai/claude-code': '2.1.328' },
} as const satisfies Record<string, Readonly<Record<string, string>>>

export type Group = keyof typeof GROUPS

/** Installs a group if it is missing, and returns its folder. */
export function install(group: Group): string {
  return installPackages(GROUPS[group])
}

/** Returns the path of a program in an installed package. */
export function programOf(group: Group, file: string): string {
  return join(install(group), 'node_modules', file)
}

/**
 * Imports an installed package; `Exports` is the used part of its exports. A file beside the packages imports
 * it, because packages are searched from the importing file.
 */
export async function importFrom<Exports>(group: Group, specifier: string): Promise<Exports> {
  const file = join(install(group), 'node_modules', `superbloom-${specifier.replaceAll(/[^a-z]+/g, '-')}.mjs`)
  writeFileSync(file, `export * from '${specifier}'\n`)
  return (await import(pathToFileURL(file).href)) as Exports
}

/** Returns the version of the row's package. */
export function versionOf(name: string, group: Group | undefined): string {
  if (group) return Object.values(GROUPS[group])[0] ?? ''
  const require = createRequire(import.meta.url)
  // Some packages do not export their manifest.
  const folders = require.resolve.paths(name) ?? []
  for (const folder of folders) {
    try {
      return (require(join(folder, name, 'package.json')) as { version: string }).version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(`${name} is not installed: run npm ci in ${dirname(import.meta.dirname)}`)
}
