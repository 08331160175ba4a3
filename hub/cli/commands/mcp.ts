import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { type Command, Option } from 'commander'
import { CLIENTS } from '../../../schemas/clients.ts'
import { describeClient } from '../../config/client-config.ts'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import { StdioBridge } from '../../mcp/stdio-bridge.ts'
import { clientToken, clientTokenFile } from '../client-token.ts'
import { findHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'

interface McpOptions {
  as: string
  config?: string
  lean?: boolean
  toolset?: string
}

export function define(command: Command): void {
  const config = new Option('--config <client>', "print what to paste into a client's config")
  command
    .addOption(config.choices(CLIENTS))
    .option('--as <name>', 'name of the token that the client has of its own', 'mcp')
    .option('--lean', 'only find_tools and call_tool, for clients that choke on many tools')
    .option('--toolset <name>', 'the tools of one set of the config')
    .action((options: McpOptions) =>
      options.config === undefined
        ? runBridge(options)
        : print(describeClient(options.config, { ...locateData(createEnvironment()), ...options })),
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
