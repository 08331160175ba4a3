import { Command, Option } from 'commander'
import { readVersion } from '../config/paths.ts'
import { HubError } from '../core/errors.ts'

/** What a start with a wrong config exits with (EX_CONFIG of sysexits.h). */
const EXIT_CONFIG = 78

/** Every command, with what it loads only when it is used. */
export function createProgram(): Command {
  const program = new Command('superbloom')
    .description('A self-hosted hub for MCP tools and persistent agents.')
    .version(readVersion())
    .showHelpAfterError('(superbloom --help shows all commands)')
  program
    .command('start')
    .description('start the hub and its servers, and print the address to open')
    .action(async () => (await import('./commands/start.ts')).start())
  program
    .command('chat')
    .description('talk to an agent in the terminal')
    .argument('[conversation]', 'an agent, or <agent>/<slug>; default homelab, else the first agent')
    .action(async (conversation?: string) => (await import('./commands/chat.ts')).chat(conversation))
  program
    .command('ask')
    .description('send one message to an agent and print its reply')
    .argument('<agent>', 'the agent, or a conversation <agent>/<slug>')
    .argument('<text...>', 'what to say')
    .option('--wait <seconds>', 'how long to wait for the reply', '300')
    .action(async (agent: string, text: string[], options: { wait: string }) =>
      (await import('./commands/ask.ts')).ask(agent, text.join(' '), Number(options.wait)),
    )
  addClients(program)
  addApprovals(program)
  addCare(program)
  addDeadLetters(program)
  addKeeping(program)
  return program
}

/** Commands for programs that talk MCP. */
function addClients(program: Command): void {
  program
    .command('mcp')
    .description('connect an MCP client that starts a process (Claude Desktop and others) to the running hub')
    .addOption(
      new Option('--config <client>', "print what to paste into a client's config").choices([
        'claude-desktop',
        'claude-code',
        'cursor',
        'vscode',
      ]),
    )
    .action(async (options: { config?: string }) => (await import('./commands/mcp.ts')).mcp(options.config))
  program
    .command('serve')
    .description('run one built-in server alone, over stdio or HTTP')
    .argument('<name>', 'metrics')
    .option('--http <port>', 'listen there instead of speaking on standard input and output')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--allow-host <name...>', 'names besides localhost by which clients may reach it')
    .action(async (name: string, options: { http?: string; host: string; allowHost?: string[] }) =>
      (await import('./commands/serve.ts')).serve(name, options),
    )
}

/** Commands by which a person answers agents. */
function addApprovals(program: Command): void {
  const approvals = program
    .command('approvals')
    .description("what waits for a person's yes, with the exact call")
    .option('--all', 'what was decided too')
    .action(async (options: { all?: boolean }) =>
      (await import('./commands/approvals.ts')).listApprovals(options),
    )
  const described = { approve: 'run exactly that call, once', deny: 'never run it' } as const
  for (const decision of ['approve', 'deny'] as const) {
    approvals
      .command(decision)
      .description(described[decision])
      .argument('<id>', 'the approval')
      .option('--note <text>', 'told to the agent')
      .action(async (id: string, options: { note?: string }) =>
        (await import('./commands/approvals.ts')).decideApproval(id, decision, options.note),
      )
  }
}

/** Commands to see how the hub is. */
function addCare(program: Command): void {
  program
    .command('status')
    .description('what the running hub does: servers, model, agents, queues')
    .option('--json', 'as JSON')
    .option('--release', 'first let the agents go that are held after a crash loop')
    .action(async (options: { json?: boolean; release?: boolean }) =>
      (await import('./commands/status.ts')).status(options),
    )
  program
    .command('doctor')
    .description('check config, doors, servers and model, and say how to mend each')
    .action(async () => (await import('./commands/doctor.ts')).doctor())
  program
    .command('reset')
    .description("start an agent's history fresh; its stored context and schedules stay")
    .argument('<agent>')
    .option('--message <text>', 'tells the agent why')
    .action(async (agent: string, options: { message?: string }) =>
      (await import('./commands/reset.ts')).reset(agent, options),
    )
  const config = program
    .command('config')
    .description('print the config in force, with where each value came from; secrets are masked')
    .action(async () => (await import('./commands/config.ts')).printConfig())
  config
    .command('schema')
    .description('print the JSON Schema of superbloom.yaml')
    .action(async () => (await import('./commands/config.ts')).printSchema())
}

/** Commands for work that failed for good. */
function addDeadLetters(program: Command): void {
  const load = () => import('./commands/dead-letters.ts')
  const letters = program
    .command('dead-letters')
    .description('list the work of agents that failed for good')
    .option('--all', 'those that were decided too')
    .option('--json', 'as JSON')
    .action(async (options: { all?: boolean; json?: boolean }) => (await load()).listDeadLetters(options))
  letters
    .command('show')
    .description('print everything about one')
    .argument('<id>', 'the dead letter')
    .action(async (id: string) => (await load()).showDeadLetter(id))
  letters
    .command('retry')
    .description('have its agent try again')
    .argument('<id>', 'the dead letter')
    .action(async (id: string) => (await load()).decideDeadLetter(id, 'retry'))
  letters
    .command('discard')
    .description('give it up')
    .argument('<id>', 'the dead letter')
    .action(async (id: string) => (await load()).decideDeadLetter(id, 'discard'))
}

/** Commands that keep what the hub knows. */
function addKeeping(program: Command): void {
  program
    .command('backup')
    .description('copy the store into one file and verify it; the hub may run meanwhile')
    .argument('[file]', 'default <data>/backups/superbloom-<time>.db')
    .action(async (file?: string) => (await import('./commands/backup.ts')).backup(file))
  program
    .command('restore')
    .description("put a backup in the store's place, which is kept aside; the hub must be stopped")
    .argument('<file>', 'what superbloom backup wrote')
    .action(async (file: string) => (await import('./commands/backup.ts')).restore(file))
}

/** Runs a command line; errors are one readable line on stderr and an exit code. */
export async function run(argv: string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    process.stderr.write(`superbloom: ${error.message}\n`)
    process.exitCode = error.code === 'bad_request' ? EXIT_CONFIG : 1
  }
}
