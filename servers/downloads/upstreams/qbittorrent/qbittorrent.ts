import type { z } from 'zod'
import type { Clock } from '../../../kit/clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import { createUpstream } from '../../../kit/upstream/upstream.ts'
import { type QbittorrentInstance, qbittorrentSpec } from '../../config.ts'
import type { Added, DownloadClient, NewDownload, Priority } from '../download-client.ts'
import { toRefused } from '../refused.ts'
import { toIdentity } from '../torrent-file.ts'
import { isBroken, logAnswer, maindataAnswer, toSnapshot, toUnfinished } from './answers.ts'
import { withLogin } from './session.ts'

const API = '/api/v2'
/** Milliseconds; adding a file by its address may take a while. */
const ADD_LIMIT = 25_000

type Api = ReturnType<typeof withLogin>

/**
 * Creates a client of qBittorrent 4.1 and later, by its Web API 2 (github.com/qbittorrent/qBittorrent/wiki).
 */
export function createQbittorrent(instance: QbittorrentInstance, clock: Clock): DownloadClient {
  const api = openApi(instance, clock)
  const { title, address } = api
  const switchTo = createSwitch(api)
  const read = (signal?: AbortSignal) =>
    api.get(`${API}/sync/maindata`, { schema: maindataAnswer, query: { rid: 0 }, signal })
  const readSnapshot: DownloadClient['readSnapshot'] = async signal => {
    const data = await read(signal)
    const failed = Object.values(data.torrents).some(isBroken)
    return toSnapshot(data, failed ? await readLog(api, signal) : [])
  }
  const act = async (path: string, form: Record<string, string>, signal?: AbortSignal) =>
    void (await post(api, path, form, signal))
  return {
    kind: 'qbittorrent',
    title,
    address,
    ownTimer: false,
    takes: 'torrent',
    readSnapshot,
    version: async () => (await api.raw('GET', `${API}/app/version`)).text(),
    async pauseAll(_options, signal) {
      const data = await read(signal)
      const { downloads } = toSnapshot(data, [])
      const running = downloads.filter(({ state }) => !['paused', 'failed'].includes(state))
      const ids = running.map(({ id }) => id)
      const all = [...new Set([...toUnfinished(data), ...ids])]
      if (all.length > 0) await switchTo('stop', all, signal)
      return ids
    },
    async resumeAll({ only }, signal) {
      const ids = toUnfinished(await read(signal)).filter(id => only?.includes(id) ?? true)
      if (ids.length > 0) await switchTo('start', ids, signal)
    },
    pause: (id, signal) => switchTo('stop', [id], signal),
    resume: (id, signal) => switchTo('start', [id], signal),
    setLimit: (bytesPerSecond, signal) =>
      act('/transfer/setDownloadLimit', { limit: String(Math.round(bytesPerSecond)) }, signal),
    setPriority: (id, priority, signal) => setPriority(api, id, priority, signal),
    add: (download, signal) => add(api, download, read, signal),
    remove: (id, { withData }, signal) =>
      act('/torrents/delete', { hashes: id, deleteFiles: String(withData) }, signal),
  }
}

function openApi(instance: QbittorrentInstance, clock: Clock): Api {
  const { settings, variables } = instance
  const upstream = createUpstream({
    name: instance.name,
    title: instance.title,
    url: settings.URL,
    problem: instance.problem,
    secrets: settings.PASSWORD === undefined ? [] : [settings.PASSWORD],
    settings: {
      url: variables.URL,
      key: `${variables.USERNAME} and ${variables.PASSWORD}`,
      where: qbittorrentSpec.settings.PASSWORD.where,
    },
    clock,
  })
  return withLogin(instance, upstream, clock)
}

/** Sends a change; `form` is its body. */
function post(api: Api, path: string, form: Record<string, string>, signal?: AbortSignal) {
  return api.raw('POST', `${API}${path}`, { body: { form }, signal })
}

/**
 * Returns the stop and start calls. Version 5 (API 2.11) renamed pause and resume to stop and start; each
 * version answers 404 to the other's words.
 */
function createSwitch(api: Api) {
  const words = { stop: ['stop', 'pause'], start: ['start', 'resume'] } as const
  let known: 0 | 1 = 0
  return async (way: 'stop' | 'start', ids: readonly string[], signal?: AbortSignal): Promise<void> => {
    const hashes = ids.join('|')
    const send = (word: string) => post(api, `/torrents/${word}`, { hashes }, signal)
    await send(words[way][known]).catch(async error => {
      if (!(error instanceof UpstreamFailure) || error.kind !== 'not_found') throw error
      const other = known === 0 ? 1 : 0
      await send(words[way][other])
      known = other
    })
  }
}

/**
 * Reads the log, the only place with the reasons of failures. Without it the torrents are listed all the
 * same.
 */
async function readLog(api: Api, signal?: AbortSignal) {
  const query = { normal: false, info: false, warning: true, critical: true, last_known_id: -1 }
  try {
    return await api.get(`${API}/log/main`, { schema: logAnswer, query, signal })
  } catch (error) {
    if (error instanceof UpstreamFailure) return []
    throw error
  }
}

async function setPriority(api: Api, id: string, priority: Priority, signal?: AbortSignal) {
  if (priority === 'normal') {
    throw toRefused(
      api.title,
      api.address,
      'it keeps an order of torrents and no levels',
      'Use "first" to put it first or "low" to put it last.',
    )
  }
  const path = priority === 'low' ? '/torrents/bottomPrio' : '/torrents/topPrio'
  await post(api, path, { hashes: id }, signal).catch(error => {
    if (!(error instanceof UpstreamFailure) || error.status !== 409) throw error
    const fix = 'Ask the owner to switch it on: qBittorrent: Options > BitTorrent > Torrent Queueing.'
    throw toRefused(api.title, api.address, 'torrent queueing is off, so there is no order', fix)
  })
  if (priority === 'first') return undefined
  return `qBittorrent keeps an order and no levels: it is ${priority === 'low' ? 'last' : 'first'} now.`
}

async function add(
  api: Api,
  { source, category, paused }: NewDownload,
  read: (signal?: AbortSignal) => Promise<z.output<typeof maindataAnswer>>,
  signal?: AbortSignal,
): Promise<Added> {
  if (source.kind === 'nzb') throw toRefused(api.title, api.address, 'it takes torrents, no NZB files')
  const identity = toIdentity(source)
  const had = identity && (await read(signal)).torrents[identity.id]
  if (identity && had) return { id: identity.id, name: had.name, known: true }
  const form = new FormData()
  if (source.kind === 'torrent') {
    const type = 'application/x-bittorrent'
    form.set('torrents', new Blob([Uint8Array.from(source.bytes)], { type }), source.fileName)
  } else form.set('urls', source.url)
  if (category) form.set('category', category)
  if (paused) {
    form.set('paused', 'true')
    form.set('stopped', 'true')
  }
  const options = { body: { multipart: form }, signal, limit: ADD_LIMIT }
  const answer = await api.raw('POST', `${API}/torrents/add`, options)
  if (answer.text().trim() === 'Fails.') {
    throw toRefused(api.title, api.address, 'it is no torrent that it can read, or it has it already')
  }
  if (identity) return { ...identity, known: false }
  const note = 'qBittorrent fetches the file from there now; where that fails, only its own log says so.'
  return { known: false, note }
}
