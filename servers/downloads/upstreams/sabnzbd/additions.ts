import { createHash } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { Addition, State } from '../../state.ts'
import type { Added, Snapshot, Source } from '../download-client.ts'

const DAY = 86_400_000
/** Number of files and addresses that are remembered. */
const KEPT = 200

/**
 * The additions to one SABnzbd, by the hash of the file or address: SABnzbd itself adds the same one again at
 * every request. An entry is written before the request, so that an interrupted call is recognised too.
 */
export interface Additions {
  /**
   * Runs `add`, unless the same source was added before; one at a time, since each call reads the jobs first.
   */
  once(
    source: Source,
    readJobs: () => Promise<Pick<Snapshot, 'downloads' | 'finished'>>,
    add: () => Promise<Added>,
  ): Promise<Added>
}

export function openAdditions(client: string, { added, save }: State, clock: Clock): Additions {
  let last: Promise<unknown> = Promise.resolve()
  const write = (key: string, addition: Addition | undefined) => {
    added.delete(key)
    if (addition) added.set(key, addition)
    for (const old of [...added.keys()].slice(0, Math.max(0, added.size - KEPT))) added.delete(old)
    save()
  }
  const run: Additions['once'] = async (source, readJobs, add) => {
    const key = toKey(client, source)
    const jobs = await readJobs()
    const now = clock.now()
    const had = decideKnown(added.get(key), source, jobs, now)
    if (had) {
      write(key, had.id === undefined ? undefined : { at: now, id: had.id })
      return had
    }
    const before = [...jobs.downloads, ...jobs.finished].map(({ id }) => id)
    write(key, { at: now, before })
    try {
      const result = await add()
      write(key, result.id === undefined ? undefined : { at: now, id: result.id })
      return result
    } catch (error) {
      if (isRefused(error)) write(key, undefined)
      throw error
    }
  }
  return {
    once(source, readJobs, add) {
      const mine = last.then(() => run(source, readJobs, add))
      last = mine.catch(() => undefined)
      return mine
    },
  }
}

/** Returns a hash, which keeps the indexers' keys in addresses out of the file. */
function toKey(client: string, source: Source): string {
  const content = 'url' in source ? source.url : source.bytes
  return createHash('sha256').update(`${client}\n${source.kind}\n`).update(content).digest('hex').slice(0, 32)
}

/** Tells whether the request was surely refused; false if it may have arrived. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (!(error instanceof UpstreamFailure)) return error.name === 'ToolFailure'
  return error.unsent || (error.status !== undefined && error.status < 500)
}

/**
 * Finds the job of an earlier addition that is unfinished or was completed within the last day; a failed one
 * may be tried again. For an interrupted call the job is one that appeared since, and a file's job has the
 * file's name.
 */
export function decideKnown(
  addition: Addition | undefined,
  source: Source,
  { downloads, finished }: Pick<Snapshot, 'downloads' | 'finished'>,
  now: number,
): Added | undefined {
  if (!addition) return undefined
  const isFresh = ({ at = 0 }: { at?: number | undefined }) => now - at < DAY
  const there = [...downloads, ...finished.filter(one => one.outcome === 'completed' && isFresh(one))].map(
    ({ id, name }) => ({ id, name }),
  )
  if (addition.id !== undefined) return toKnown(there.filter(({ id }) => id === addition.id))
  if (!isFresh(addition)) return undefined
  const came = there.filter(({ id }) => !addition.before?.includes(id))
  return toKnown(
    source.kind === 'nzb' ? came.filter(({ name }) => name === toJobName(source.fileName)) : came,
  )
}

/** Returns the name that SABnzbd gives to this file's job. */
export function toJobName(fileName: string): string {
  return fileName.replace(/\.nzb$/i, '')
}

function toKnown(jobs: readonly { id: string; name: string }[]): Added | undefined {
  const [first] = jobs
  if (!first) return undefined
  if (jobs.length === 1) return { ...first, known: true }
  const note =
    'An earlier call with the same address was cut short, and several jobs came since; look at get_download_status whether ' +
    'it is one of them. If it is not, call this again.'
  return { known: true, note }
}
