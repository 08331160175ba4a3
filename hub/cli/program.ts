import { Command, Option } from 'commander'
import { builtIns } from '../built-ins.ts'
import { readVersion } from '../config/paths.ts'
import { HubError } from '../core/errors.ts'
import type { McpOptions } from './commands/mcp.ts'
import type { NewWake } from './commands/schedules.ts'
import type { ThreadsOptions } from './commands/threads.ts'
import { printError } from './print.ts'
import { addServerCommands } from './server-commands.ts'

/** Exit code of a start with a wrong config (EX_CONFIG of sysexits.h). */
const EXIT_CONFIG = 78

/** Creates the command line. Each command loads its module only when it runs. */
export function createProgram(): Command {
  const program = new Command('superbloom')
    .description('A self-hosted hub for MCP tools and persistent agents.')
    .version(readVersion())
    // Positional options keep a command from taking its subcommands' options.
    .enablePositionalOptions()
    .showHelpAfterError('(superbloom --help shows all commands)')
  program
    .command('start')
    .description('start the hub and its servers, and print the address to open')
    .option('--accept-loss', 'go on with a store that lost what it held, once')
    .action(async (options: { acceptLoss?: boolean }) => (await import('./commands/start.ts')).start(options))
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
  addAgents(program)
  addClients(program)
  addApprovals(program)
  addModels(program)
  addCare(program)
  addDeadLetters(program)
  addKeeping(program)
  addTriggers(program)
  return program
}

/** Adds commands that show what agents do. */
function addAgents(program: Command): void {
  program
    .command('agents')
    .description('every agent with what it did')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('./commands/agents.ts')).agents(options))
  const threads = program
    .command('threads')
    .description("the agents' threads: main threads and tasks")
    .option('--agent <name>', 'of one agent')
    .addOption(
      new Option('--status <status>', 'only threads of this status').choices([
        'active',
        'sleeping',
        'waiting',
        'complete',
        'failed',
        'cancelled',
      ]),
    )
    .option('--archived', 'archived ones too')
    .option('--json', 'as JSON')
    .action(async (options: ThreadsOptions) => (await import('./commands/threads.ts')).threads(options))
  threads
    .command('show')
    .description('what happened in one thread: cycles, steps, tool calls, tokens')
    .argument('<id>', 'as threads lists it')
    .option('--after <cycle>', 'what came after this cycle; default the newest')
    .option('--limit <cycles>', 'how many cycles at most')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { after?: string; limit?: string }, command: Command) =>
      (await import('./commands/threads.ts')).showThread(id, { ...command.parent?.opts(), ...options }),
    )
}

/** Adds commands for programs that talk MCP. */
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
    .option('--lean', 'only find_tools and call_tool, for clients that choke on many tools')
    .option('--toolset <name>', 'the tools of one set of the config')
    .action(async (options: McpOptions) => (await import('./commands/mcp.ts')).mcp(options))
  program
    .command('serve')
    .description('run one built-in server alone, over stdio or HTTP')
    .argument('<name>', builtIns.map(({ name }) => name).join(', '))
    .option('--http <port>', 'listen there instead of speaking on standard input and output')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--allow-host <name...>', 'names besides localhost by which clients may reach it')
    .action(async (name: string, options: { http?: string; host: string; allowHost?: string[] }) =>
      (await import('./commands/serve.ts')).serve(name, options),
    )
}

/** Adds commands by which a person answers agents. */
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
      .action(async (approval: string, options: { note?: string }) =>
        (await import('./commands/approvals.ts')).decideApproval({ approval, decision, ...options }),
      )
  }
}

/** Adds commands that find a model and try whether it can be used. */
function addModels(program: Command): void {
  const load = () => import('./commands/models.ts')
  const models = program
    .command('models')
    .description('models that answer on this machine, keys, and the configured models with their sizes')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await load()).listModels(options))
  models
    .command('try')
    .description('try a model with the prompt and all tools of the default agent')
    .argument(
      '[name]',
      'of the config, or of a model; default the configured one, else the first that answers',
    )
    .option('--json', 'as JSON')
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      (await load()).tryConfigured(name, options),
    )
}

/** Adds commands that show the hub's state. */
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

/** Adds commands for work that failed for good. */
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

/** Adds commands that back the store up and restore it. */
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

/** Adds commands for servers, and for triggers of agents. */
function addTriggers(program: Command): void {
  addServerCommands(program)
  const events = program
    .command('events')
    .description('what happened, the newest first, with where each event went and why')
    .option('--type <type>', 'only events of this type')
    .addOption(
      new Option('--status <status>', 'only events of this status').choices([
        'pending',
        'processing',
        'handled',
        'ignored',
        'held',
      ]),
    )
    .option('--limit <count>', 'how many', '50')
    .action(async (options: { type?: string; status?: string; limit: string }) =>
      (await import('./commands/events.ts')).listEvents(options),
    )
  events
    .command('publish')
    .description('tell the hub that something happened')
    .argument('<type>', 'for example server_empty')
    .argument('[payload]', 'a JSON object; default {}')
    .option('--key <key>', 'what makes it the same as another; default the payload')
    .action(async (type: string, payload: string | undefined, options: { key?: string }) =>
      (await import('./commands/events.ts')).publishEvent(type, payload, options),
    )
  addSchedules(program)
}

function addSchedules(program: Command): void {
  const schedules = program
    .command('schedules')
    // Positional options leave the options after "create" to it.
    .enablePositionalOptions()
    .description('the pending wake-ups of agents, the next first')
    .option('--agent <name>', 'only those of this agent')
    .action(async (options: { agent?: string }) =>
      (await import('./commands/schedules.ts')).listSchedules(options),
    )
  schedules
    .command('create')
    .description('wake an agent later, or again and again')
    .argument('<reason...>', 'its note for then')
    .option('--agent <name>', 'which agent; default homelab, else the first')
    .option('--delay <span>', '90s, 30m, 2h, 1d, or on_event')
    .option('--at <time>', 'ISO 8601')
    .option('--cron <expression>', 'for example "0 8 * * *"')
    .option('--timezone <zone>', "default the hub's")
    .option('--wake-on <type...>', 'wake it early at an event of one of these types')
    .action(async (reason: string[], wake: NewWake) =>
      (await import('./commands/schedules.ts')).createSchedule(reason.join(' '), wake),
    )
  schedules
    .command('cancel')
    .description('cancel a pending wake-up')
    .argument('<id>', 'as superbloom schedules shows it')
    .action(async (id: string) => (await import('./commands/schedules.ts')).cancelSchedule(id))
}

/** Runs a command line; errors become one readable line on stderr and an exit code. */
export async function run(argv: string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    printError(`superbloom: ${error.message}`)
    process.exitCode = error.code === 'bad_request' ? EXIT_CONFIG : 1
  }
}
