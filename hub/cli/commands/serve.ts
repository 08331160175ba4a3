import type { Command } from 'commander'
import { runServer } from '../../../servers/kit/run.ts'
import { builtIns } from '../../config/built-ins.ts'
import { createEnvironment } from '../../config/environment.ts'
import { openServerToken } from '../../config/server-token.ts'
import { HubError } from '../../core/errors.ts'

interface ServeOptions {
  http?: string
  host: string
  allowHost?: string[]
}

export function define(command: Command): void {
  command
    .argument('<name>', builtIns.map(({ name }) => name).join(', '))
    .option('--http <port>', 'listen there instead of speaking on standard input and output')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--allow-host <name...>', 'names besides localhost by which clients may reach it')
    .action(serve)
}

async function serve(name: string, options: ServeOptions): Promise<void> {
  const builtIn = builtIns.find(known => known.name === name)
  if (!builtIn) {
    throw new HubError(
      'not_found',
      `There is no built-in server ${name}; there is: ${builtIns.map(known => known.name).join(', ')}`,
    )
  }
  const definition = await builtIn.load()
  if (options.http === undefined) return runServer(definition, { kind: 'stdio' })
  const port = Number(options.http)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new HubError(
      'invalid_arguments',
      `--http: ${options.http} is not a port (0 to 65535; 0 takes any free one)`,
    )
  }
  const { token, from } = openServerToken(name, createEnvironment())
  const { host, allowHost = [] } = options
  const transport = { kind: 'http' as const, host, port, token, allowedHosts: allowHost }
  await runServer(definition, transport, url => {
    process.stderr.write(`${definition.title} at ${url}; the token is ${from}\n`)
  })
}
