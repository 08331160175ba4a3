import { createHash } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import type { State } from '../../state.ts'
import type { Added, Snapshot, Source } from '../download-client.ts'

const DAY = 86_400_000
/** Number of files and addresses that are remembered. */
const KEPT = 200

export type Additions = ReturnType<typeof openAdditions>
type Once = (
  source: Source,
  readJobs: () => Promise<Pick<Snapshot, 'downloads' | 'finished'>>,
  add: () => Promise<Added>,
) => Promise<Added>

/**
 * Opens the memory of the jobs that earlier additions to one SABnzbd made, by the hash of the file or
 * address: SABnzbd itself adds the same one again at every request.
 */
export function openAdditions(client: string, { added, save }: State, clock: Clock) {
  let last: Promise<unknown> = Promise.resolve()
  const run: Once = async (source, readJobs, add) => {
    const key = toKey(client, source)
    const { downloads, finished } = await readJobs()
    const isFresh = ({ at = 0 }: { at?: number | undefined }) => clock.now() - at < DAY
    const jobs = [...downloads, ...finished.filter(one => one.outcome === 'completed' && isFresh(one))]
    const known = jobs.find(({ id }) => id === added.get(key)?.id) ?? jobs.find(job => isNamed(job, source))
    if (known) return { id: known.id, name: known.name, known: true }
    const result = await add()
    added.delete(key)
    if (result.id !== undefined) added.set(key, { id: result.id })
    for (const old of [...added.keys()].slice(0, Math.max(0, added.size - KEPT))) added.delete(old)
    save()
    return result
  }
  /** Runs `add`, unless the same source has a job; one at a time, since each call reads the jobs first. */
  const once: Once = (...given) => {
    const mine = last.then(() => run(...given))
    last = mine.catch(() => undefined)
    return mine
  }
  return { once }
}

/** Returns a hash, which keeps the indexers' keys in addresses out of the file. */
function toKey(client: string, source: Source): string {
  const content = 'url' in source ? source.url : source.bytes
  return createHash('sha256').update(`${client}\n${source.kind}\n`).update(content).digest('hex').slice(0, 32)
}

/**
 * Tells whether a job has the name that SABnzbd gives to this source: then it is that of an earlier call
 * whose answer was lost. While SABnzbd fetches an address, the job's name holds it.
 */
function isNamed({ name }: { name: string }, source: Source): boolean {
  if ('url' in source) return name.endsWith(source.url)
  const named = toJobName(source.fileName)
  return name === named && named !== 'download'
}

/** Returns the name that SABnzbd gives to this file's job. */
export function toJobName(fileName: string): string {
  return fileName.replace(/\.nzb$/i, '')
}
