import { Command } from 'commander'
import { readVersion } from '../config/paths.ts'
import { HubError } from '../core/errors.ts'
import { findNearest } from '../core/spelling.ts'
import { EXAMPLES } from './examples.ts'
import { printError } from './print.ts'

/** Exit code of a start with a wrong config (EX_CONFIG of sysexits.h). */
const EXIT_CONFIG = 78

/** A file of commands: adds a command's arguments, options, subcommands and what it does. */
interface CommandFile {
  define(command: Command): void
}

const hubCalls = () => import('./commands/hub-calls.ts')
const tokens = () => import('./commands/tokens.ts')
const store = () => import('./commands/store.ts')

/** All commands, in the order of the help. */
const COMMANDS: readonly [name: string, description: string, load: () => Promise<CommandFile>][] = [
  [
    'start',
    'start the hub and its servers, and print the address to open',
    () => import('./commands/start.ts'),
  ],
  ['chat', 'talk to an agent in the terminal', () => import('./commands/chat.ts')],
  ['ask', 'send one message to an agent and print its reply', () => import('./commands/ask.ts')],
  ['agents', 'every agent with what it did', hubCalls],
  ['conversations', 'what was said: list, show and search conversations', hubCalls],
  ['threads', "the agents' threads: main threads and tasks", hubCalls],
  ['why', 'a cycle step by step: what was sent, with model, tokens, money and time', hubCalls],
  [
    'mcp',
    'connect an MCP client that starts a process (Claude Desktop and others) to the running hub',
    () => import('./commands/mcp.ts'),
  ],
  ['serve', 'run one built-in server alone, over stdio or HTTP', () => import('./commands/serve.ts')],
  ['approvals', "what waits for a person's yes, with the exact call", hubCalls],
  ['policy', 'what agents may do: which calls run, ask a person or are refused, and why', hubCalls],
  [
    'models',
    'models that answer on this machine, keys, and the configured models with their sizes',
    () => import('./commands/models.ts'),
  ],
  ['status', 'what the running hub does: servers, model, agents, queues', hubCalls],
  [
    'doctor',
    'check config, doors, servers and model, and say how to mend each',
    () => import('./commands/doctor.ts'),
  ],
  ['reset', "start an agent's history fresh; its stored context and schedules stay", hubCalls],
  [
    'config',
    'print the config in force, with where each value came from; secrets are masked',
    () => import('./commands/config.ts'),
  ],
  ['dead-letters', 'list the work of agents that failed for good', hubCalls],
  ['backup', 'copy the store into one file and verify it; the hub may run meanwhile', store],
  ['restore', "put a backup in the store's place, which is kept aside; the hub must be stopped", store],
  [
    'migrate',
    'move the store from SQLite to PostgreSQL, or back; the hub must be stopped',
    () => import('./commands/migrate.ts'),
  ],
  [
    'servers',
    'the servers with their health and how many tools each has',
    () => import('./commands/servers.ts'),
  ],
  ['tokens', 'tokens for programs, webhooks and scrapers: list, create, revoke', tokens],
  ['people', 'people who may sign in on the page: list, add, remove', tokens],
  [
    'audit',
    'who did what: calls, decisions, sign-ins, tokens, changes; and whether that record is whole',
    () => import('./commands/audit.ts'),
  ],
  ['events', 'what happened, the newest first, with where each event went and why', hubCalls],
  ['schedules', 'the pending wake-ups of agents, the next first', hubCalls],
  [
    'demo',
    'a hub with a simulated homelab and three stories to watch; touches nothing of yours',
    () => import('./commands/demo.ts'),
  ],
]

/** Creates the command line. Only the commands that `words` name load their files; by default all do. */
export async function createProgram(words?: readonly string[]): Promise<Command> {
  const program = new Command('superbloom')
    .description('A self-hosted hub for MCP tools and persistent agents.')
    .version(readVersion())
    // Positional options keep a command from taking its subcommands' options.
    .enablePositionalOptions()
    .showHelpAfterError('(superbloom --help shows all commands)')
  for (const [name, description, load] of COMMANDS) {
    const command = program.command(name).description(description)
    if (words && !words.includes(name)) continue
    ;(await load()).define(command)
    for (const each of [command, ...command.commands]) explain(each)
  }
  return program
}

/** Adds examples to a command's help, and makes its errors say what was meant and where help is. */
function explain(command: Command): void {
  const group = command.parent?.parent ? command.parent : command
  const path = group === command ? command.name() : `${group.name()} ${command.name()}`
  const examples = EXAMPLES[path]
  if (examples)
    command.addHelpText('after', `\nFor example:\n${examples.map(each => `  ${each}`).join('\n')}`)
  if (path !== 'servers add') command.showHelpAfterError(`(superbloom ${path} --help says what it takes)`)
  if (command.registeredArguments.length > 0 || group.commands.length === 0) return
  command.allowExcessArguments().hook('preAction', (_, acting) => {
    const [word] = acting === command ? command.args : []
    if (word === undefined) return
    const near = findNearest(
      word,
      group.commands.map(each => each.name()),
    )
    const meant = near.length > 0 ? `\n(Did you mean ${group.name()} ${near.join(' or ')}?)` : ''
    command.error(`error: unknown command '${group.name()} ${word}'${meant}`)
  })
}

/** Runs a command line; errors become one readable line on stderr and an exit code. */
export async function run(argv: string[]): Promise<void> {
  try {
    const program = await createProgram(argv)
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    printError(`superbloom: ${error.message}`)
    process.exitCode = error.code === 'bad_request' ? EXIT_CONFIG : 1
  }
}
