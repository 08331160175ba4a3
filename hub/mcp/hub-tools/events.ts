import { z } from 'zod'
import { eventStatuses, type ListedEvent, listedEvent } from '../../../schemas/hub-lists.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural, toLine } from '../../core/text.ts'
import { listEvents } from '../../store/events.ts'
import { defineHubTool, toView } from './hub-tool.ts'

export const publishEvent = defineHubTool({
  name: 'hub_publish_event',
  title: 'Publish an event',
  description: 'Tells the hub that something happened; agents that list the type or wait for it wake up.',
  input: z.strictObject({
    type: z.string().trim().min(1).max(100),
    payload: z.record(z.string(), z.unknown()).default({}),
    key: z.string().max(500).optional().describe("default: the payload's canonical JSON"),
  }),
  output: z.object({
    id: z.string(),
    status: z.enum(['pending', 'ignored', 'held']),
    routedTo: z.array(z.string()).describe('threads'),
    note: z.string().describe('why'),
  }),
  effect: 'adds',
  right: 'records',
  async run({ type, payload, key }, { principal, deps }) {
    const externalId = deps.newId('pub')
    const routed = await deps.postEvent({
      source: `mcp:${principal.name}`,
      externalId,
      type,
      key,
      payload,
      at: deps.clock.now(),
      // Only the owner speaks for the house itself.
      power: principal.role === 'owner' ? 'routine' : 'foreign',
    })
    if (!routed) throw new HubError('conflict', `The event ${externalId} was there already`)
    return routed
  },
  toText: ({ id, status, note }) => toLine(`${id} (${status}): ${note}`),
})

export const listAllEvents = defineHubTool({
  name: 'hub_list_events',
  title: 'List events',
  description: 'What happened in the infrastructure, the newest first, and where each event went.',
  input: z.strictObject({
    type: z.string().optional(),
    status: z.enum(eventStatuses).optional(),
    limit: z.int().min(1).max(500).default(50),
  }),
  output: z.object({ events: z.array(listedEvent) }),
  effect: 'reads',
  right: 'records',
  async run(filter, { deps }) {
    const rows = await listEvents(deps.store.db, filter)
    return { events: rows.map(row => listedEvent.parse(toView(row))) }
  },
  toText: ({ events }) => events.map(describe).join('\n') || 'No events.',
})

function describe({ id, type, source, status, note, repeats, at }: ListedEvent): string {
  const again = repeats > 0 ? `, repeated ${plural(repeats, 'time')}` : ''
  return toLine(`${toIso(at)} ${type} from ${source} (${id}): ${status}${again}${note ? `; ${note}` : ''}`)
}
