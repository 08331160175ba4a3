import { z } from 'zod'
import { ToolFailure } from '../../../kit/failure.ts'
import { toListText } from '../../../kit/render.ts'
import { quote } from '../../../kit/text.ts'
import type { Arr } from './arr.ts'
import { profile, rootFolder } from './shapes.ts'

const MOST_NAMES = 20

type Key = 'QUALITY_PROFILE' | 'ROOT_FOLDER'

interface Defaults {
  upstream: Arr['upstream']
  settings: Pick<Arr['settings'], Key>
  variables: Pick<Arr['variables'], Key>
}

export interface Chosen {
  profile: { id: number; name: string }
  rootFolder: string
  /** Sentences that explain the choice and list the alternatives. */
  notes: string[]
}

/**
 * Chooses the quality profile and the root folder: the requested ones, else those of the settings, else the
 * first profile and the folder with the most space.
 */
export async function choose(
  { upstream, settings, variables }: Defaults,
  wanted: { qualityProfile?: string | undefined; rootFolder?: string | undefined },
  signal?: AbortSignal,
): Promise<Chosen> {
  const [profiles, folders] = await Promise.all([
    upstream.get('/api/v3/qualityprofile', { schema: z.array(profile), signal }),
    upstream.get('/api/v3/rootfolder', { schema: z.array(rootFolder), signal }),
  ])
  const usable = folders
    .filter(folder => folder.accessible !== false)
    .sort((a, b) => (b.freeSpace ?? 0) - (a.freeSpace ?? 0))
  const where = upstream.title
  const chosenProfile = pick(profiles, one => one.name, {
    what: 'quality profile',
    where,
    asked: wanted.qualityProfile,
    set: settings.QUALITY_PROFILE,
    variable: variables.QUALITY_PROFILE,
  })
  const chosenFolder = pick(usable, one => one.path, {
    what: 'root folder',
    where,
    asked: wanted.rootFolder,
    set: settings.ROOT_FOLDER,
    variable: variables.ROOT_FOLDER,
  })
  const notes = [chosenProfile.note, chosenFolder.note].filter(note => note !== undefined)
  return { profile: chosenProfile.found, rootFolder: chosenFolder.found.path, notes }
}

interface Question {
  what: string
  where: string
  asked: string | undefined
  set: string | undefined
  variable: string
}

function pick<Item>(
  items: readonly Item[],
  toName: (item: Item) => string,
  { what, where, asked, set, variable }: Question,
): { found: Item; note?: string } {
  const names = items.map(toName)
  const wanted = asked ?? set
  const found = wanted === undefined ? items[0] : items.find(item => isSame(toName(item), wanted))
  if (found === undefined) {
    throw new ToolFailure({
      what:
        wanted === undefined
          ? `${where} has no ${what} that can be used.`
          : `${where} has no ${what} ${quote(wanted, 100)}.`,
      where: asked === undefined && set !== undefined ? variable : where,
      why: names.length > 0 ? `it has ${toNames(names)}` : 'it has none',
      fix: names.length > 0 ? 'Choose one of these.' : `Ask the owner to add a ${what} there.`,
    })
  }
  if (wanted !== undefined || names.length < 2) return { found }
  const others = names.filter(name => name !== toName(found))
  const note = `The ${what} ${quote(toName(found), 100)} is the default; there is also ${toNames(others)}.`
  return { found, note }
}

/** Lists names that others wrote: cleaned, and only the first few. */
function toNames(names: readonly string[]): string {
  return toListText(names, MOST_NAMES, name => quote(name, 100))
}

/** Tells whether two names are equal in any case, or two paths with or without the last slash. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [a, b].map(name =>
    name
      .trim()
      .replace(/(?<![/\\])[/\\]+$/, '')
      .toLowerCase(),
  )
  return left === right
}
