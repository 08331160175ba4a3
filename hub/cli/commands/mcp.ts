import { resolve } from 'node:path'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { packageFolder } from '../../config/paths.ts'
import { systemClock } from '../../core/clock.ts'
import { StdioBridge } from '../../mcp/stdio-bridge.ts'
import { findHub } from '../find-hub.ts'
import { quote } from '../quote.ts'

/** Bridges standard input and output to the running hub, or prints what a client needs to start this. */
export async function mcp(client: string | undefined): Promise<void> {
  if (client !== undefined) return console.log(describeConfig(client))
  const config = locateData(createEnvironment())
  const bridge = new StdioBridge({
    clock: systemClock,
    client: new StdioServerTransport(),
    findHub: () => findHub(config),
    log: line => process.stderr.write(`superbloom mcp: ${line}\n`),
  })
  findHub(config)
  await bridge.run()
}

/** The lines to paste, with absolute paths: clients start processes in folders of their own. */
function describeConfig(client: string): string {
  const { dataFolder } = locateData(createEnvironment())
  const command = process.execPath
  const args = [resolve(packageFolder, 'bin', 'superbloom.js'), 'mcp']
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
