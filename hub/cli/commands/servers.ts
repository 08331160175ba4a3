import type { Command } from 'commander'
import { hubStatus } from '../../../schemas/hub-status.ts'
import { describeUncontained } from '../../core/describe-uncontained.ts'
import { callHub, printCall } from '../call-hub.ts'
import { addServers, removeServer, switchServer } from '../change-servers.ts'
import { findHub } from '../find-hub.ts'
import { print, printJson } from '../print.ts'
import { logIn, logOut } from '../server-login.ts'
import { describeServer } from '../server-state.ts'

export function define(command: Command): void {
  const collect = (value: string, before: string[] = []) => [...before, value]
  command
    // Positional options leave the options after "add" to it.
    .enablePositionalOptions()
    .option('--json', 'as JSON')
    .action(listServers)
  command.command('list').description('the same').option('--json', 'as JSON').action(listServers)
  command
    .command('add')
    .description('add a server in the data folder; a running hub has it within two seconds')
    .argument('[name]', 'what it shall be called; without one only with --json')
    .argument('[command...]', 'behind --: the program that speaks MCP, with its arguments')
    .option('--url <url>', 'where a running server listens, in place of a command')
    .option('--header <header>', '"Name: value", sent with every request to the url; may come again', collect)
    .option('--env <variable>', 'KEY=value, added to its environment; may come again', collect)
    .option('--cwd <folder>', 'where the command starts')
    .option('--prefix <prefix>', "in front of its tools' names; default <name>__")
    .option('--isolated', 'each client session gets a process of its own')
    .option('--json <json>', "servers as another client's config holds them, or the path of such a file")
    .showHelpAfterError('(put -- in front of the command: superbloom servers add files -- npx -y a-server)')
    .action(addServers)
  command
    .command('remove')
    .description('take a server away; what it takes is kept')
    .argument('<name>', 'as superbloom servers shows it')
    .action(removeServer)
  const described = { enable: 'switch a server on again', disable: 'switch a server off; it stays listed' }
  for (const change of ['enable', 'disable'] as const) {
    command
      .command(change)
      .description(described[change])
      .argument('<name>', 'as superbloom servers shows it')
      .action((name: string) => switchServer(name, change))
  }
  command
    .command('accept')
    .description("take a server's changed tools as they are now")
    .argument('<name>', 'as superbloom servers shows it')
    .action((name: string) => printCall('hub_accept_tools', { server: name }))
  command
    .command('login')
    .description('log in at a server behind a url that asks for it; prints the address to open')
    .argument('<name>', 'as superbloom servers shows it')
    .action(logIn)
  command
    .command('logout')
    .description('forget the login at a server')
    .argument('<name>', 'as superbloom servers shows it')
    .action(logOut)
}

async function listServers(options: { json?: boolean }): Promise<void> {
  const { structured } = await callHub(findHub(), 'hub_status', {})
  const all = hubStatus.parse(structured).servers
  if (options.json) printJson({ servers: all })
  else print([...all.map(describeServer), ...describeUncontained(all)].join('\n') || 'No servers.')
}
