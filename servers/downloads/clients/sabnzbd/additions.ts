import { createHash } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { Added, Snapshot, Source } from '../../download.ts'
import type { Addition, State } from '../../state.ts'

const DAY = 86_400_000
/** How many files and addresses are remembered. */
const KEPT = 200

/**
 * What was given to one SABnzbd, by the hash of the file or address: SABnzbd itself adds the same again as often as it is
 * told. An entry is written before the request, so that a call that was cut short is recognised as well.
 */
export interface Additions {
  /** Runs `add`, unless the same was added before; one after the other, since each looks at the jobs first. */
  once(
    source: Source,
    look: () => Promise<Pick<Snapshot, 'downloads' | 'finished'>>,
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
  const run: Additions['once'] = async (source, look, add) => {
    const key = toKey(client, source)
    const jobs = await look()
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
    once(source, look, add) {
      const mine = last.then(() => run(source, look, add))
      last = mine.catch(() => undefined)
      return mine
    },
  }
}

/** The hash keeps keys of indexers, which stand in addresses, out of the file. */
function toKey(client: string, source: Source): string {
  const content = 'url' in source ? source.url : source.bytes
  return createHash('sha256').update(`${client}\n${source.kind}\n`).update(content).digest('hex').slice(0, 32)
}

/** False where the request may have arrived all the same. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (!(error instanceof UpstreamFailure)) return error.name === 'ToolFailure'
  return error.unsent || (error.status !== undefined && error.status < 500)
}

/**
 * The job that is there of an earlier addition: unfinished, or completed within the last day. One that failed may be tried
 * again. Of a call that was cut short the job is among those that came since; of a file it has the file's name.
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

/** The name that SABnzbd gives a job of this file. */
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
