import { z } from 'zod'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { NamedClient } from '../upstreams/clients.ts'
import { type Download, PRIORITIES, type Priority, type Snapshot } from '../upstreams/download-client.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { downloadFields, downloadOutput, findUnfinished } from './find-download.ts'
import { isFirst, requireShown } from './until-shown.ts'

const output = z.object({
  ...downloadOutput,
  priority: z.enum(PRIORITIES),
  note: z.string().optional().describe('what came of it, where that is not the same'),
})

/** `set_download_priority`: sets which download comes first. */
export function setDownloadPriority(deps: ToolDeps): Tool {
  return defineTool({
    name: 'set_download_priority',
    title: 'Set the priority of a download',
    description:
      'Moves one download before all others (first) or gives it a level. qBittorrent has an order and no ' +
      'levels: high and first put it first, low last, and its queueing must be on.',
    annotations: REVERSIBLE,
    input: z.strictObject({ ...downloadFields(deps.clients), priority: z.enum(PRIORITIES) }),
    output,
    async run({ priority, ...wanted }, signal) {
      const { client, download, about, waiting } = await findUnfinished(deps, wanted, signal)
      const name = quote(about.name)
      const note = await client.setPriority(about.id, priority, signal)
      await requireShown(waiting, `${name} has another priority`, isPlaced(client, download, priority))
      const words = priority === 'first' ? 'comes first now' : `has priority ${priority} now`
      return {
        data: { ...about, priority, note },
        text: note === undefined ? `${name} ${words} (${client.name}).` : `${name}: ${note}`,
      }
    },
  })
}

/**
 * Tells whether the download has its place. qBittorrent has no levels, so a place in its queue stands for
 * each.
 */
function isPlaced(
  client: NamedClient,
  { id }: Download,
  priority: Priority,
): (snapshot: Snapshot) => boolean {
  const isOrdered = client.kind === 'qbittorrent'
  if (priority === 'first' || (isOrdered && priority === 'high')) return now => isFirst(now, { id })
  if (isOrdered) return ({ downloads }) => downloads.filter(one => one.priority).at(-1)?.id === id
  return ({ downloads }) => downloads.every(one => one.id !== id || one.priority === priority)
}
