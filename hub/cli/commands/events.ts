import { type Command, Option } from 'commander'
import { z } from 'zod'
import { HubError } from '../../core/errors.ts'
import { printCall } from '../call-hub.ts'
import { readLimit } from '../read-limit.ts'

const STATUSES = ['pending', 'processing', 'handled', 'ignored', 'held']

const payload = z.record(z.string(), z.unknown())

export function define(command: Command): void {
  command
    .option('--type <type>', 'only events of this type')
    .addOption(new Option('--status <status>', 'only events of this status').choices(STATUSES))
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
    return payload.parse(JSON.parse(text))
  } catch (error) {
    throw new HubError(
      'invalid_arguments',
      `The payload must be a JSON object such as '{"host":"nas","percent":95}'; it is ${text}`,
      { cause: error },
    )
  }
}
