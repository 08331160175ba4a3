import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { toFacts } from '../../kit/render.ts'
import { quote, toAgeText, toByteText, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { type NamedClient, pickClients, rareClientField } from '../upstreams/clients.ts'
import type { Finished } from '../upstreams/download-client.ts'
import type { ToolDeps } from './deps.ts'
import { failedClient, onClients, withFailed } from './on-clients.ts'

const input = (clients: readonly NamedClient[]) =>
  z.strictObject({
    client: rareClientField(clients),
    outcome: z.enum(['all', 'completed', 'failed']).default('all'),
    name: z.string().min(1).max(200).optional().describe('a part of the name'),
    ...pageFields(20, 200),
  })

const output = z.object({
  downloads: z.array(
    z.object({
      client: z.string(),
      id: z.string(),
      name: foreignText(),
      outcome: z.enum(['completed', 'failed']),
      sizeBytes: z.number(),
      at: z
        .number()
        .optional()
        .describe('when it ended, unix milliseconds; absent where the client does not tell'),
      category: foreignText(100).optional(),
      reason: foreignText(300, 'why it failed').optional(),
      seeding: z.boolean().optional().describe('true: a torrent that is still shared with others'),
    }),
  ),
  completed: z.int().describe('of all that fit the other arguments'),
  failedDownloads: z.int().describe('of all that fit the other arguments'),
  ...pageOutput,
  failed: z.array(failedClient).describe('clients that could not be asked'),
})
type Listed = { client: string; one: Finished }

/** `get_download_history`: completed and failed downloads, with reasons. */
export function getDownloadHistory({ clients, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'get_download_history',
    title: 'Download history',
    description:
      'Completed and failed downloads, the latest first, with the reason of each failure. Call it to see ' +
      'whether something arrived, or why not. SABnzbd tells its last 200.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: input(clients),
    output,
    async run({ client, outcome, name, ...part }, signal) {
      const { done, failed } = await onClients(
        pickClients(clients, client),
        'No download client could be asked.',
        async named => (await named.readSnapshot(signal)).finished,
      )
      const wanted = name?.toLowerCase() ?? ''
      const fitting = done
        .flatMap(({ name: from, value }) => value.map((one): Listed => ({ client: from, one })))
        .filter(({ one }) => one.name.toLowerCase().includes(wanted))
        .sort((a, b) => (b.one.at ?? 0) - (a.one.at ?? 0))
      const shown = page(
        fitting.filter(({ one }) => outcome === 'all' || one.outcome === outcome),
        part,
      )
      const failedDownloads = fitting.filter(({ one }) => one.outcome === 'failed').length
      const { items, ...rest } = shown
      const counts = { completed: fitting.length - failedDownloads, failedDownloads }
      const lines = [
        `${toCountText(counts.completed, 'completed download')}, ${failedDownloads} failed.`,
        items.map(listed => toText(listed, clock.now())),
        toMoreText(shown, 'download'),
      ]
      const downloads = items.map(({ client: from, one }) => toData(from, one))
      const result = withFailed({ downloads, ...counts, ...rest }, lines, failed)
      return { ...result, untrusted: result.untrusted || items.length > 0 }
    },
  })
}

function toText({ client, one }: Listed, now: number): string {
  const { name, outcome, size, at, category, reason, seeding } = one
  const facts = toFacts([
    at === undefined ? outcome : `${outcome} ${toAgeText(at, now)}`,
    toByteText(size),
    category !== undefined && `category ${quote(category, 100)}`,
    seeding && 'still shared',
  ])
  return `- ${quote(name)} (${client}): ${facts}${reason === undefined ? '' : `, ${quote(reason, 300)}`}.`
}

function toData(client: string, { deletable: _d, key: _k, recoverable: _r, size, ...same }: Finished) {
  return { client, ...same, sizeBytes: size }
}
