import { resolve } from 'node:path'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { type Command, Option } from 'commander'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { packageFolder } from '../../config/paths.ts'
import { systemClock } from '../../core/clock.ts'
import { StdioBridge } from '../../mcp/stdio-bridge.ts'
import { clientToken, clientTokenFile } from '../client-token.ts'
import { findHub } from '../find-hub.ts'
import { print, printError, quote } from '../print.ts'

interface McpOptions {
  as: string
  config?: string
  lean?: boolean
  toolset?: string
}

export function define(command: Command): void {
  const config = new Option('--config <client>', "print what to paste into a client's config")
  command
    .addOption(config.choices(['claude-desktop', 'claude-code', 'cursor', 'vscode']))
    .option('--as <name>', 'name of the token that the client has of its own', 'mcp')
    .option('--lean', 'only find_tools and call_tool, for clients that choke on many tools')
    .option('--toolset <name>', 'the tools of one set of the config')
    .action((options: McpOptions) =>
      options.config === undefined ? runBridge(options) : print(describeConfig(options.config, options)),
    )
}

async function runBridge({ as, lean, toolset }: McpOptions): Promise<void> {
  const config = locateData(createEnvironment())
  const path = `/mcp${toolset === undefined ? '' : `/${encodeURIComponent(toolset)}`}${lean ? '?tools=lean' : ''}`
  const token = await clientToken(findHub(config), config.dataFolder, as)
  const bridge = new StdioBridge({
    clock: systemClock,
    client: new StdioServerTransport(),
    findHub: () => ({ ...findHub(config), token, path }),
    tokenFile: clientTokenFile(config.dataFolder, as),
    log: line => printError(`superbloom mcp: ${line}`),
  })
  await bridge.run()
}

/** Returns the config to paste, with absolute paths: clients start processes in folders of their own. */
function describeConfig(client: string, { lean, toolset }: McpOptions): string {
  const { dataFolder } = locateData(createEnvironment())
  const command = process.execPath
  const args = [resolve(packageFolder, 'bin', 'superbloom.js'), 'mcp', '--as', client]
  if (lean) args.push('--lean')
  if (toolset !== undefined) args.push('--toolset', toolset)
  const env = { SUPERBLOOM_DATA: dataFolder }
  const entry = { command, args, env }
  switch (client) {
    case 'claude-code':
      return `claude mcp add superbloom --env SUPERBLOOM_DATA=${quote(dataFolder)} -- ${[command, ...args].map(quote).join(' ')}`
    case 'vscode':
      return toJson({ servers: { superbloom: { type: 'stdio', ...entry } } })
    default:
      return toJson({ mcpServers: { superbloom: entry } })
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
}
