import { type Command, Option } from 'commander'
import { printCall } from '../call-hub.ts'
import { readLimit } from '../read-limit.ts'

const STATUSES = ['active', 'sleeping', 'waiting', 'complete', 'failed', 'cancelled']

type Page = { json?: boolean; after?: string; limit?: string }

export function define(command: Command): void {
  command
    .option('--agent <name>', 'of one agent')
    .addOption(new Option('--status <status>', 'only threads of this status').choices(STATUSES))
    .option('--archived', 'archived ones too')
    .option('--json', 'as JSON')
    .action(({ json, ...filter }: { json?: boolean }) => printCall('hub_list_threads', filter, { json }))
  command
    .command('show')
    .description('what happened in one thread: cycles, steps, tool calls, tokens')
    .argument('<id>', 'as threads lists it')
    .option('--after <cycle>', 'what came after this cycle; default the newest')
    .option('--limit <cycles>', 'how many cycles at most')
    .option('--json', 'as JSON')
    .action((thread: string, options: Page, show: Command) => {
      const { after, limit, json } = { ...show.parent?.opts<Page>(), ...options }
      const page = { ...(after ? { after } : {}), ...(limit ? { limit: readLimit(limit) } : {}) }
      return printCall('hub_read_thread', { thread, ...page }, { json })
    })
}
