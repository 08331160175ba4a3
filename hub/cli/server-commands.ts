import type { Command } from 'commander'
import type { AddOptions } from './new-servers.ts'

/** Adds commands that list, add, remove and switch servers. */
export function addServerCommands(program: Command): void {
  const list = async (options: { json?: boolean }) =>
    (await import('./commands/servers.ts')).listServers(options)
  const load = () => import('./commands/change-servers.ts')
  const collect = (value: string, before: string[] = []) => [...before, value]
  const servers = program
    .command('servers')
    // Positional options leave the options after "add" to it.
    .enablePositionalOptions()
    .description('the servers with their health and how many tools each has')
    .option('--json', 'as JSON')
    .action(list)
  servers.command('list').description('the same').option('--json', 'as JSON').action(list)
  servers
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
    .action(async (name: string | undefined, command: string[], options: AddOptions) =>
      (await load()).addServers(name, command, options),
    )
  servers
    .command('remove')
    .description('take a server away; what it takes is kept')
    .argument('<name>', 'as superbloom servers shows it')
    .action(async (name: string) => (await load()).removeServer(name))
  const described = { enable: 'switch a server on again', disable: 'switch a server off; it stays listed' }
  for (const change of ['enable', 'disable'] as const) {
    servers
      .command(change)
      .description(described[change])
      .argument('<name>', 'as superbloom servers shows it')
      .action(async (name: string) => (await load()).switchServer(name, change))
  }
  servers
    .command('login')
    .description('log in at a server behind a url that asks for it; prints the address to open')
    .argument('<name>', 'as superbloom servers shows it')
    .action(async (name: string) => (await import('./commands/server-login.ts')).logIn(name))
  servers
    .command('logout')
    .description('forget the login at a server')
    .argument('<name>', 'as superbloom servers shows it')
    .action(async (name: string) => (await import('./commands/server-login.ts')).logOut(name))
}
