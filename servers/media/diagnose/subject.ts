import type { Wanted } from '../titles.ts'
import { gather, toWhy } from '../tools/common.ts'
import { type Arr, findNamed, KINDS, toDatabaseId } from '../upstreams/arr/arr.ts'
import type { Title } from '../upstreams/arr/shapes.ts'
import type { Known } from './decide.ts'

export type MediaType = 'movie' | 'show'

/** The identified film or series; if no Radarr or Sonarr manages it, only its name is known. */
export interface Subject {
  title: string
  year: number | undefined
  type: MediaType | undefined
  managed: Known<{ arr: Arr; one: Title } | undefined>
}

/**
 * Finds the titles in Radarr and Sonarr: one, or several that a person must choose from. "Not managed" is an
 * answer too; if no program answers, it is unknown whether the title is managed. A title that several
 * instances manage counts once, for the first.
 */
export async function findSubjects(
  arrs: readonly Arr[],
  wanted: Wanted,
  type: MediaType | undefined,
  signal: AbortSignal,
): Promise<Subject[]> {
  const { title, year } = wanted
  const toUnmanaged = (managed: Subject['managed']): Subject[] => [{ title, year, type, managed }]
  const asked = arrs.filter(({ kind }) => type === undefined || KINDS[kind].type === type)
  if (asked.length === 0) return toUnmanaged({ known: false, why: 'Radarr and Sonarr are not configured' })
  const { found, unknown } = await gather(asked, signal, async arr =>
    (await findNamed(arr, wanted, signal)).map(one => ({ arr, one })),
  ).catch(error => {
    signal.throwIfAborted()
    return { found: [], unknown: [{ why: toWhy(error, 'Radarr and Sonarr') }] }
  })
  const subjects = new Map<string, Subject>()
  for (const { arr, one } of found.flat()) {
    const key = `${arr.kind} ${toDatabaseId(arr, one)}`
    if (subjects.has(key)) continue
    const year = one.year || undefined
    const managed = { known: true, value: { arr, one } } as const
    subjects.set(key, { title: one.title, year, type: KINDS[arr.kind].type, managed })
  }
  if (subjects.size > 0) return [...subjects.values()]
  const [first] = unknown
  return toUnmanaged(first ? { known: false, why: first.why } : { known: true, value: undefined })
}
