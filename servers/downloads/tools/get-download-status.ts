import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { toFacts } from '../../kit/render.ts'
import {
  quote,
  toAgeText,
  toByteText,
  toCountText,
  toPercentText,
  toRateText,
  toSpanText,
  toTenth,
} from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { clientField, type NamedClient, pickClients } from '../upstreams/clients.ts'
import {
  type ClientKind,
  DOWNLOAD_STATES,
  type Download,
  type Snapshot,
} from '../upstreams/download-client.ts'
import type { ToolDeps } from './deps.ts'
import { failedClient, onClients, withFailed } from './on-clients.ts'

const input = (clients: readonly NamedClient[]) =>
  z.strictObject({
    client: clientField(clients),
    state: z.enum(DOWNLOAD_STATES).optional(),
    ...pageFields(20, 200),
  })

const clientStatus = z.object({
  client: z.string(),
  kind: z.enum(['sabnzbd', 'qbittorrent', 'transmission']),
  paused: z.boolean().describe('true: nothing is loaded because all was paused'),
  resumesAt: z.number().optional().describe('when a timed pause ends, unix milliseconds'),
  bytesPerSecond: z.number(),
  limitBytesPerSecond: z.number().optional().describe('absent: no limit'),
  downloads: z.int().describe('how many are not finished'),
  neededBytes: z.number().describe('what those that are not paused still need'),
  freeBytes: z.number().optional().describe('on the disk that it loads to, where it tells'),
})

const output = z.object({
  clients: z.array(clientStatus),
  downloads: z.array(
    z.object({
      client: z.string(),
      id: z.string(),
      name: foreignText(),
      state: z.enum(DOWNLOAD_STATES),
      percent: z.number().describe('0 to 100'),
      sizeBytes: z.number().describe('0: not known yet'),
      leftBytes: z.number(),
      bytesPerSecond: z.number().optional(),
      etaSeconds: z.number().optional(),
      category: foreignText(100).optional(),
      priority: z.string().optional(),
      reason: foreignText(300, 'why it failed or does not get on').optional(),
    }),
  ),
  ...pageOutput,
  failed: z.array(failedClient).describe('clients that could not be asked'),
})
type ClientStatus = z.input<typeof clientStatus>
type Listed = { client: string; download: Download }

/** `get_download_status`: running downloads, their speed, and the free space. */
export function getDownloadStatus({ clients, state: { pauses }, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'get_download_status',
    title: 'Download status',
    description:
      'Unfinished downloads with progress, speed, time left and what keeps them; of each client speed, ' +
      "limit, pause and free disk. Call it for a download's name before you change it. Finished and failed " +
      'ones: get_download_history.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: input(clients),
    output,
    async run({ client, state, ...part }, signal) {
      const { done, failed } = await onClients(
        pickClients(clients, client),
        'No download client could be asked.',
        async ({ kind, readSnapshot }) => ({ kind, ...(await readSnapshot(signal)) }),
      )
      const statuses = done.map(({ name, value }) => toStatus(name, value, pauses.get(name)?.until))
      const all = done.flatMap(({ name, value }) =>
        value.downloads.map(download => ({ client: name, download })),
      )
      const shown = page(
        all.filter(({ download }) => state === undefined || download.state === state),
        part,
      )
      const { items, ...rest } = shown
      const lines = [
        statuses.map(status => toStatusText(status, clock.now())),
        items.map(toDownloadText),
        state !== undefined && shown.total === 0 && `None is ${state}.`,
        toMoreText(shown, 'download'),
      ]
      const data = { clients: statuses, downloads: items.map(toData), ...rest }
      const result = withFailed(data, lines, failed)
      return { ...result, untrusted: result.untrusted || items.length > 0 }
    },
  })
}

function toStatus(
  client: string,
  { kind, paused, resumesAt, speed, limit, downloads, needed, free }: Snapshot & { kind: ClientKind },
  until: number | undefined,
): ClientStatus {
  return {
    client,
    kind,
    paused,
    resumesAt: resumesAt ?? until,
    bytesPerSecond: speed,
    limitBytesPerSecond: limit,
    downloads: downloads.length,
    neededBytes: needed,
    freeBytes: free,
  }
}

function toStatusText(status: ClientStatus, now: number): string {
  const { resumesAt, limitBytesPerSecond: limit, freeBytes: free, neededBytes: needed } = status
  const facts = toFacts([
    status.paused ? 'paused' : toRateText(status.bytesPerSecond),
    resumesAt !== undefined && `goes on ${toAgeText(resumesAt, now)}`,
    toCountText(status.downloads, 'download'),
    needed > 0 && `${toByteText(needed)} left to load`,
    limit !== undefined && `limit ${toRateText(limit)}`,
    free !== undefined && `${toByteText(free)} free`,
  ])
  const short = free !== undefined && needed > free ? ' The disk is too small for the queue.' : ''
  return `${status.client}: ${facts}.${short}`
}

function toDownloadText({ client, download }: Listed): string {
  const { name, state, size, speed = 0, eta, category, reason } = download
  const facts = toFacts([
    size > 0
      ? `${state} at ${toPercentText(toPercent(download))} of ${toByteText(size)}`
      : `${state}, size not known yet`,
    speed > 0 && toRateText(speed),
    eta !== undefined && `${toSpanText(eta)} left`,
    category !== undefined && `category ${quote(category, 100)}`,
  ])
  return `- ${quote(name)} (${client}): ${facts}${reason === undefined ? '' : `, ${quote(reason)}`}.`
}

function toPercent({ size, left }: Download): number {
  return size > 0 ? toTenth(Math.max(0, Math.min(100, (1 - left / size) * 100))) : 0
}

function toData({ client, download }: Listed) {
  const { speed, eta, size, left, ...same } = download
  return {
    client,
    ...same,
    percent: toPercent(download),
    sizeBytes: size,
    leftBytes: left,
    bytesPerSecond: speed,
    etaSeconds: eta,
  }
}
