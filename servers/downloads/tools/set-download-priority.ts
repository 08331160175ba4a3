import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { type NamedClient, pickClients } from '../upstreams/clients.ts'
import { type Download, PRIORITIES, type Priority, type Snapshot } from '../upstreams/download-client.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { downloadFields, findUnfinished } from './find-download.ts'
import { isFirst, requireShown } from './until-shown.ts'

const input = (clients: readonly NamedClient[]) =>
  z.strictObject({
    ...downloadFields(clients),
    priority: z.enum(PRIORITIES),
  })

const output = z.object({
  client: z.string(),
  id: z.string(),
  name: foreignText(),
  priority: z.enum(PRIORITIES),
  note: z.string().optional().describe('what came of it, where that is not the same'),
})

/** `set_download_priority`: sets which download comes first. */
export function setDownloadPriority({ clients, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'set_download_priority',
    title: 'Set the priority of a download',
    description:
      'Moves one download before all others (first) or gives it a level. qBittorrent has an order and no ' +
      'levels: high and first put it first, low last, and its queueing must be on.',
    annotations: REVERSIBLE,
    input: input(clients),
    output,
    async run({ download: wanted, client: only, priority }, signal) {
      const found = await findUnfinished(pickClients(clients, only), wanted, signal)
      const { client, download } = found
      client.require('change')
      const note = await client.client.setPriority(download.id, priority, signal)
      const { id, name } = download
      const change = `${quote(name)} has another priority`
      await requireShown({ client, clock, signal }, change, isPlaced(client, download, priority))
      const words = priority === 'first' ? 'comes first now' : `has priority ${priority} now`
      return {
        data: { client: client.name, id, name, priority, note },
        text: note === undefined ? `${quote(name)} ${words} (${client.name}).` : `${quote(name)}: ${note}`,
      }
    },
  })
}

/**
 * Tells whether the download has its place. qBittorrent has no levels, so a place in its queue stands for
 * each.
 */
function isPlaced(
  { client }: NamedClient,
  { id }: Download,
  priority: Priority,
): (snapshot: Snapshot) => boolean {
  const isOrdered = client.kind === 'qbittorrent'
  if (priority === 'first' || (isOrdered && priority === 'high')) return now => isFirst(now, { id })
  if (isOrdered) return ({ downloads }) => downloads.filter(one => one.priority).at(-1)?.id === id
  return ({ downloads }) => downloads.every(one => one.id !== id || one.priority === priority)
}
