import { z } from 'zod'
import type { Clock } from '../../../kit/clock.ts'
import { ToolFailure } from '../../../kit/failure.ts'
import { quote } from '../../../kit/text.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import { createUpstream, type Upstream } from '../../../kit/upstream/upstream.ts'
import { type SabnzbdInstance, sabnzbdSpec } from '../../config.ts'
import type { Added, DownloadClient, NewDownload, Priority } from '../download-client.ts'
import { toGone, toRefused } from '../refused.ts'
import { type Additions, toJobName } from './additions.ts'
import { changeAnswer, historyAnswer, queueAnswer, refusal, toSnapshot } from './answers.ts'

/** Number of history entries that are read. */
const HISTORY = 200
const LEVELS: Readonly<Record<Exclude<Priority, 'first'>, string>> = { high: '1', normal: '0', low: '-1' }
const PAUSED = '-2'

type Parameters = Readonly<Record<string, string>>
type Ask = <Schema extends z.ZodType>(
  parameters: Parameters,
  schema: Schema,
  signal?: AbortSignal,
  file?: File,
) => Promise<z.output<Schema>>

/**
 * Creates a client of SABnzbd 3 and later by its API (sabnzbd.org/wiki/configuration/3.7/api). The key is
 * sent in bodies, never in an address.
 */
export function createSabnzbd(
  instance: SabnzbdInstance,
  { clock, additions }: { clock: Clock; additions: Additions },
): DownloadClient {
  const { title, settings, variables } = instance
  const upstream = createUpstream({
    name: instance.name,
    title,
    url: settings.URL,
    secrets: [settings.API_KEY],
    problem: instance.problem,
    settings: { url: variables.URL, key: variables.API_KEY, where: sabnzbdSpec.settings.API_KEY.where },
    clock,
  })
  const ask = createAsk(upstream, settings.API_KEY, variables.API_KEY)
  const change = (parameters: Parameters, signal?: AbortSignal) => ask(parameters, changeAnswer, signal)
  const changeJob = async (mode: string, id: string, signal?: AbortSignal) => {
    const answer = await change({ mode: 'queue', name: mode, value: id }, signal)
    if (answer.status === false) throw toGone(title, upstream.address)
  }
  const readSnapshot: DownloadClient['readSnapshot'] = async signal => {
    const [{ queue }, { history }] = await Promise.all([
      ask({ mode: 'queue' }, queueAnswer, signal),
      ask({ mode: 'history', limit: String(HISTORY) }, historyAnswer, signal),
    ])
    return toSnapshot(queue, history, clock.now())
  }
  return {
    kind: 'sabnzbd',
    title,
    address: upstream.address,
    ownTimer: true,
    takes: 'nzb',
    readSnapshot,
    version: async () => (await ask({ mode: 'queue', limit: '1' }, queueAnswer)).queue.version,
    async pauseAll({ minutes }, signal) {
      const timed = { mode: 'config', name: 'set_pause', value: String(minutes) }
      await change(minutes === undefined ? { mode: 'pause' } : timed, signal)
      return undefined
    },
    resumeAll: async (_options, signal) => void (await change({ mode: 'resume' }, signal)),
    pause: (id, signal) => changeJob('pause', id, signal),
    resume: (id, signal) => changeJob('resume', id, signal),
    async setLimit(bytesPerSecond, signal) {
      await change({ mode: 'config', name: 'speedlimit', value: String(Math.round(bytesPerSecond)) }, signal)
    },
    async setPriority(id, priority, signal) {
      if (priority === 'first') {
        await ask({ mode: 'switch', value: id, value2: '0' }, z.object({ result: z.unknown() }), signal)
        return undefined
      }
      const given = { mode: 'queue', name: 'priority', value: id, value2: LEVELS[priority] }
      const { position } = await change(given, signal)
      if (position === -1) throw toGone(title, upstream.address)
      return undefined
    },
    add: (download, signal) =>
      additions.once(
        download.source,
        () => readSnapshot(signal),
        () => add(download, { ask, title, address: upstream.address }, signal),
      ),
    async remove(id, { list, withData }, signal) {
      const answer = await change(
        {
          mode: list === 'downloads' ? 'queue' : 'history',
          name: 'delete',
          value: id,
          del_files: withData ? '1' : '0',
        },
        signal,
      )
      if (answer.status === false) throw toGone(title, upstream.address)
    },
  }
}

function createAsk(upstream: Upstream, key: string, variable: string): Ask {
  return async (parameters, schema, signal, file) => {
    const fields = { ...parameters, apikey: key, output: 'json' }
    const read = parameters['name'] === undefined && ['queue', 'history'].includes(parameters['mode'] ?? '')
    const answer = await upstream
      .send('POST', '/api', {
        schema: z.union([refusal, schema]),
        body: file === undefined ? { form: fields } : { multipart: toForm(fields, file) },
        read,
        signal,
      })
      .catch(error => {
        throw toKeyFailure(error, upstream, variable)
      })
    const refused = refusal.safeParse(answer)
    if (refused.success) {
      throw toRefused(upstream.title, upstream.address, `it says ${quote(refused.data.error)}`)
    }
    return answer as z.output<typeof schema>
  }
}

function toForm(fields: Parameters, file: File): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('name', file)
  return form
}

/** Recognises a wrong key, which is a 403 with plain text even if JSON was requested. */
function toKeyFailure(error: unknown, { title }: Upstream, variable: string): unknown {
  if (!(error instanceof UpstreamFailure) || error.status !== 403) return error
  const { failure } = error
  if (failure.why.includes('Hostname verification')) {
    const fix = `Add the host of its address to SABnzbd's host_whitelist (Config > Special), or use its IP address.`
    return new ToolFailure(
      { ...failure, what: `${title} does not answer to this host name.`, fix },
      { cause: error },
    )
  }
  if (!/api key/i.test(failure.why)) return error
  const fix = `Check ${variable} (${sabnzbdSpec.settings.API_KEY.where}).`
  return new UpstreamFailure(
    { ...failure, kind: 'unauthorized', status: 403, what: `${title} did not accept the key.`, fix },
    { cause: error },
  )
}

async function add(
  { source, category, paused }: NewDownload,
  { ask, title, address }: { ask: Ask; title: string; address: string },
  signal?: AbortSignal,
): Promise<Added> {
  if (source.kind === 'magnet' || source.kind === 'torrent') {
    throw toRefused(title, address, 'it takes NZB files and their addresses, no torrents')
  }
  const file = source.kind === 'nzb' ? new File([Uint8Array.from(source.bytes)], source.fileName) : undefined
  const options = { ...(category ? { cat: category } : {}), ...(paused ? { priority: PAUSED } : {}) }
  const given = source.kind === 'url' ? { mode: 'addurl', name: source.url } : { mode: 'addfile' }
  const answer = await ask({ ...given, ...options }, changeAnswer, signal, file)
  const id = answer.nzo_ids?.[0]
  if (answer.status === false || id === undefined) {
    throw toRefused(
      title,
      address,
      'it added nothing: the file holds no articles, or it has had the same one before',
    )
  }
  return {
    id,
    known: false,
    ...(source.kind === 'url'
      ? { note: 'SABnzbd fetches the NZB file from there now; where that fails, its history says why.' }
      : { name: toJobName(source.fileName) }),
  }
}
