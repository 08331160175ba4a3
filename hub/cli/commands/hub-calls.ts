import { type Command, Option } from 'commander'
import { z } from 'zod'
import {
  type AgentView,
  agentList,
  deadLetters,
  eventStatuses,
  threadStatuses,
} from '../../../schemas/hub-lists.ts'
import { hubStatus } from '../../../schemas/hub-status.ts'
import { POWERS } from '../../../schemas/power.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural, toLine } from '../../core/text.ts'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { describeDeadLetter } from '../../mcp/hub-tools/dead-letters.ts'
import { describeStatus } from '../../mcp/hub-tools/status.ts'
import { sendDecision } from '../approvals.ts'
import { callHub, printCall } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printError, printJson } from '../print.ts'
import { findId } from '../short-ids.ts'

type Json = { json?: boolean }

const COMMANDS: Record<string, (command: Command) => void> = {
  agents: command =>
    command.option('--json', 'as JSON').action(async ({ json }: Json) => {
      const { structured } = await callHub(findHub(), 'hub_list_agents', {})
      const lines = agentList.parse(structured).agents.map(describeAgent)
      if (json) printJson(structured)
      else print(lines.join('\n') || 'No agents: write agents/<name>.md')
    }),
  approvals: defineApprovals,
  conversations: defineConversations,
  'dead-letters': defineDeadLetters,
  events: defineEvents,
  policy: definePolicy,
  reset: command =>
    command
      .argument('<agent>')
      .option('--message <text>', 'tells the agent why')
      .action(async (agent: string, { message }: { message?: string }) => {
        const { text } = await callHub(findHub(), 'hub_reset', { agent, ...(message ? { message } : {}) })
        print(`${text} What was said before is still found with search.`)
      }),
  schedules: defineSchedules,
  status: command =>
    command
      .option('--json', 'as JSON')
      .option('--release', 'first let the agents go that are held after a crash loop')
      .action(printStatus),
  threads: defineThreads,
  why: command =>
    command
      .argument('<cycle>', 'as superbloom threads show lists it, or its beginning')
      .option('--step <number>', "one step's whole request")
      .option('--json', 'as JSON')
      .action((cycle: string, { step, json }: Json & { step?: string }) =>
        printCall('hub_explain_cycle', { cycle, ...(step ? { step: readLimit(step, '--step') } : {}) }, json),
      ),
}

export function define(command: Command): void {
  COMMANDS[command.name()]?.(command)
}

/** Returns the id that a person means among those that a tool of the hub lists. */
async function findOf(tool: string, list: string, given: string, filter: object = {}): Promise<string> {
  const { structured } = await callHub(findHub(), tool, { ...filter })
  return findId(given, (structured as Record<string, { id: string }[]>)[list] ?? [])
}

function describeAgent(one: AgentView): string {
  const figures = [
    plural(one.threads, 'thread'),
    `${plural(one.pending, 'inbox item')} waiting`,
    plural(one.cycles, 'cycle'),
    one.lastCycleAt === null ? 'never ran' : `last ran ${toIso(one.lastCycleAt)}`,
    `${one.tokensToday} tokens today`,
    `${one.windowTokens} tokens in the window`,
  ]
  return `${one.name} (${one.status}): ${toLine(one.description)}\n  ${figures.join(', ')}`
}

function defineApprovals(command: Command): void {
  command.option('--all', 'what was decided too').action(async ({ all }: { all?: boolean }) => {
    const { text } = await callHub(findHub(), 'hub_list_approvals', all ? {} : { status: 'open' })
    print(text === 'No approvals.' && !all ? 'Nothing waits for your yes.' : text)
  })
  const described = { approve: 'run exactly that call, once', deny: 'never run it' } as const
  for (const decision of ['approve', 'deny'] as const) {
    const decide = command
      .command(decision)
      .description(described[decision])
      .argument('<id>', 'the approval: its number, or the beginning of its id')
      .option('--note <text>', 'told to the agent')
      .action(async (approval: string, options: { note?: string; always?: string }) =>
        print(describeApproval(await sendDecision(findHub(), { approval, decision, ...options }))),
      )
    if (decision === 'approve')
      decide.option('--always <span>', 'also run further calls of the tool without asking, for such as 1d')
  }
}

function defineConversations(command: Command): void {
  command
    .option('--json', 'as JSON')
    .action(({ json }: Json) => printCall('hub_list_conversations', {}, json))
  command
    .command('show')
    .description('the messages of one conversation')
    .argument('<id>', 'such as homelab or homelab/nas')
    .option('--after <seq>', 'messages after this one')
    .option('--limit <messages>', 'how many messages at most')
    .action((conversation: string, { after, limit }: Page) =>
      printCall('hub_read_messages', {
        conversation,
        ...(after ? { after: readLimit(after, '--after') } : {}),
        ...(limit ? { limit: readLimit(limit) } : {}),
      }),
    )
  command
    .command('search')
    .description('messages that hold every word')
    .argument('<words...>')
    .action((words: string[]) => printCall('hub_search_messages', { query: words.join(' ') }))
}

function definePolicy(command: Command): void {
  command
    .command('allowances')
    .description('what people allowed for longer')
    .action(() => printCall('hub_list_allowances'))
  command
    .command('revoke')
    .description('take an allowance back')
    .argument('<id>', 'as superbloom policy allowances shows it, or its beginning')
    .action(async (id: string) =>
      printCall('hub_revoke_allowance', { id: await findOf('hub_list_allowances', 'allowances', id) }),
    )
  command
    .command('explain', { isDefault: true })
    .description('whether a call runs, asks a person or is refused, and why')
    .argument('[tool]', 'one tool; default all tools of servers')
    .addOption(
      new Option('--power <power>', 'by whose word the work began').choices(POWERS).default('person'),
    )
    .option('--agent <name>', 'which agent; default homelab, else the first')
    .option('--has-read-foreign', 'the work has read a text from outside')
    .option('--json', 'as JSON')
    .action((tool: string | undefined, { json, ...question }: Json) =>
      printCall('hub_explain_policy', { ...(tool ? { tool } : {}), ...question }, json),
    )
}

function defineDeadLetters(command: Command): void {
  command
    .option('--all', 'those that were decided too')
    .option('--json', 'as JSON')
    .action(({ all, json }: Json & { all?: boolean }) =>
      printCall('hub_list_dead_letters', all ? {} : { status: 'open' }, json),
    )
  const add = (name: string, description: string, run: (id: string) => Promise<void>) =>
    command
      .command(name)
      .description(description)
      .argument('<id>', 'the dead letter, or the beginning of its id')
      .action(async (id: string) => run(await findOf('hub_list_dead_letters', 'deadLetters', id)))
  add('show', 'print everything about one', showDeadLetter)
  add('retry', 'have its agent try again', id => printCall('hub_retry_dead_letter', { id }))
  add('discard', 'give it up', id => printCall('hub_discard_dead_letter', { id }))
}

async function showDeadLetter(id: string): Promise<void> {
  const { structured } = await callHub(findHub(), 'hub_list_dead_letters', {})
  const letter = deadLetters.parse(structured).deadLetters.find(each => each.id === id)
  if (!letter)
    throw new HubError('not_found', `There is no dead letter ${id}; superbloom dead-letters --all lists them`)
  print(describeDeadLetter(letter))
}

function defineEvents(command: Command): void {
  command
    .option('--type <type>', 'only events of this type')
    .addOption(new Option('--status <status>', 'only events of this status').choices(eventStatuses))
    .option('--limit <count>', 'how many', '50')
    .action((filter: { limit: string }) =>
      printCall('hub_list_events', { ...filter, limit: readLimit(filter.limit) }),
    )
  command
    .command('publish')
    .description('tell the hub that something happened')
    .argument('<type>', 'for example server_empty')
    .argument('[payload]', 'a JSON object; default {}')
    .option('--key <key>', 'what makes it the same as another; default the payload')
    .action((type: string, text: string | undefined, options: { key?: string }) =>
      printCall('hub_publish_event', { type, payload: parsePayload(text ?? '{}'), ...options }),
    )
}

function parsePayload(text: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
  } catch (error) {
    throw new HubError(
      'invalid_arguments',
      `The payload must be a JSON object such as '{"host":"nas","percent":95}'; it is ${text}`,
      { cause: error },
    )
  }
}

/** Returns a limit as a number. Throws `invalid_arguments` for anything but a whole number from 1 on. */
function readLimit(text: string, option = '--limit'): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new HubError('invalid_arguments', `${option}: give a whole number from 1 on; it is ${text}`)
}

function defineSchedules(command: Command): void {
  command
    // Positional options leave the options after "create" to it.
    .enablePositionalOptions()
    .option('--agent <name>', 'only those of this agent')
    .option('--fired', 'in place of the pending ones the last that fired')
    .action((options: object) => printCall('hub_list_schedules', { ...options }))
  command
    .command('create')
    .description('wake an agent later, or again and again')
    .argument('<reason...>', 'its note for then')
    .option('--agent <name>', 'which agent; default homelab, else the first')
    .option('--delay <span>', '90s, 30m, 2h, 1d, or on_event')
    .option('--at <time>', 'ISO 8601')
    .option('--cron <expression>', 'for example "0 8 * * *"')
    .option('--timezone <zone>', "default the hub's")
    .option('--wake-on <type...>', 'wake it early at an event of one of these types')
    .action((reason: string[], { wakeOn, ...wake }: { wakeOn?: string[] }) => {
      const wakeOnEvents = wakeOn ? { wakeOnEvents: wakeOn } : {}
      return printCall('hub_create_schedule', { ...wake, reason: reason.join(' '), ...wakeOnEvents })
    })
  command
    .command('cancel')
    .description('cancel a pending wake-up')
    .argument('<id>', 'as superbloom schedules shows it, or its beginning')
    .action(async (id: string) =>
      printCall('hub_cancel_schedule', { id: await findOf('hub_list_schedules', 'schedules', id) }),
    )
}

async function printStatus({ json, release }: Json & { release?: boolean }): Promise<void> {
  const hub = findHub()
  if (release) printError((await callHub(hub, 'hub_release_agents', {})).text)
  const state = hubStatus.parse((await callHub(hub, 'hub_status', {})).structured)
  const agents = await callHub(hub, 'hub_list_agents', {})
  if (json) return printJson({ ...state, ...(agents.structured as object) })
  print(`${hub.url}\n${describeStatus(state)}\nAgents:\n${agents.text.replace(/^/gm, '  ')}`)
}

type Page = Json & { after?: string; limit?: string }

function defineThreads(command: Command): void {
  command
    .option('--agent <name>', 'of one agent')
    .addOption(new Option('--status <status>', 'only threads of this status').choices(threadStatuses))
    .option('--archived', 'archived ones too')
    .option('--json', 'as JSON')
    .action(({ json, ...filter }: Json) => printCall('hub_list_threads', filter, json))
  command
    .command('show')
    .description('what happened in one thread: cycles, steps, tool calls, tokens')
    .argument('<id>', 'as threads lists it, or its beginning')
    .option('--after <cycle>', 'what came after this cycle; default the newest')
    .option('--limit <cycles>', 'how many cycles at most')
    .option('--json', 'as JSON')
    .action(async (given: string, options: Page, show: Command) => {
      const thread = await findOf('hub_list_threads', 'threads', given, { archived: true })
      const { after, limit, json } = { ...show.parent?.opts<Page>(), ...options }
      const page = { ...(after ? { after } : {}), ...(limit ? { limit: readLimit(limit) } : {}) }
      return printCall('hub_read_thread', { thread, ...page }, json)
    })
}
