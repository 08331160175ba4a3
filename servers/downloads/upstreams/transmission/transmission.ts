import { z } from 'zod'
import type { Clock } from '../../../kit/clock.ts'
import type { TransmissionInstance } from '../../config.ts'
import type { Added, DownloadClient, NewDownload, Priority } from '../download-client.ts'
import { toRefused } from '../refused.ts'
import { FIELDS, sessionAnswer, torrentsAnswer, toSnapshot } from './answers.ts'
import { openRpc, type Rpc } from './rpc.ts'

/** Milliseconds; Transmission loads an address's file before it answers. */
const ADD_LIMIT = 25_000
const LEVELS: Readonly<Record<Priority, number>> = { first: 1, high: 1, normal: 0, low: -1 }

const anything = z.object({})
const addAnswer = z.object({
  'torrent-added': z.object({ hashString: z.string(), name: z.string() }).optional(),
  'torrent-duplicate': z.object({ hashString: z.string(), name: z.string() }).optional(),
})

/** Creates a client of Transmission 2.80 and later (RPC 15 and up). */
export function createTransmission(instance: TransmissionInstance, clock: Clock): DownloadClient {
  const rpc = openRpc(instance, clock)
  const readSession = (signal?: AbortSignal) =>
    rpc.call('session-get', {}, sessionAnswer, { signal, read: true })
  const readSnapshot: DownloadClient['readSnapshot'] = async signal => {
    const session = await readSession(signal)
    const { torrents } = await rpc.call('torrent-get', { fields: FIELDS }, torrentsAnswer, {
      signal,
      read: true,
    })
    return toSnapshot(session, torrents)
  }
  const readUnfinished = async (signal?: AbortSignal) =>
    (await readSnapshot(signal)).downloads.filter(({ state }) => state !== 'failed')
  const act = async (method: string, given: Record<string, unknown>, signal?: AbortSignal) =>
    void (await rpc.call(method, given, anything, { signal }))
  return {
    kind: 'transmission',
    title: rpc.title,
    address: rpc.address,
    ownTimer: false,
    takes: 'torrent',
    readSnapshot,
    version: async () => (await readSession()).version,
    async pauseAll(_options, signal) {
      const downloads = await readUnfinished(signal)
      const ids = downloads.map(({ id }) => id)
      if (ids.length > 0) await act('torrent-stop', { ids }, signal)
      return downloads.filter(({ state }) => state !== 'paused').map(({ id }) => id)
    },
    async resumeAll({ only }, signal) {
      const downloads = await readUnfinished(signal)
      const ids = downloads.map(({ id }) => id).filter(id => only?.includes(id) ?? true)
      if (ids.length > 0) await act('torrent-start', { ids }, signal)
    },
    pause: (id, signal) => act('torrent-stop', { ids: [id] }, signal),
    resume: (id, signal) => act('torrent-start', { ids: [id] }, signal),
    async setLimit(bytesPerSecond, signal) {
      const { units } = await readSession(signal)
      const limit = Math.max(1, Math.round(bytesPerSecond / units['speed-bytes']))
      const given =
        bytesPerSecond === 0
          ? { 'speed-limit-down-enabled': false }
          : { 'speed-limit-down-enabled': true, 'speed-limit-down': limit }
      await act('session-set', { ...given, 'alt-speed-enabled': false }, signal)
    },
    async setPriority(id, priority, signal) {
      await act('torrent-set', { ids: [id], bandwidthPriority: LEVELS[priority] }, signal)
      if (priority === 'first') await act('queue-move-top', { ids: [id] }, signal)
      return undefined
    },
    add: (download, signal) => add(rpc, download, signal),
    remove: (id, { withData }, signal) =>
      act('torrent-remove', { ids: [id], 'delete-local-data': withData }, signal),
  }
}

async function add(
  rpc: Rpc,
  { source, category, paused }: NewDownload,
  signal?: AbortSignal,
): Promise<Added> {
  if (source.kind === 'nzb') throw toRefused(rpc.title, rpc.address, 'it takes torrents, no NZB files')
  const given =
    source.kind === 'torrent'
      ? { metainfo: Buffer.from(source.bytes).toString('base64') }
      : { filename: source.url }
  const answer = await rpc.call('torrent-add', { ...given, paused }, addAnswer, { signal, limit: ADD_LIMIT })
  const had = answer['torrent-duplicate']
  if (had) return { id: had.hashString, name: had.name, known: true }
  const added = answer['torrent-added']
  if (!added) throw toRefused(rpc.title, rpc.address, 'it said that it did, but not what it added')
  if (category) {
    // Older versions accept labels in torrent-set, but not in torrent-add.
    await rpc.call('torrent-set', { ids: [added.hashString], labels: [category] }, anything, { signal })
  }
  return { id: added.hashString, name: added.name, known: false }
}
