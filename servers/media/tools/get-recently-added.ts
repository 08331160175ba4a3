import { z } from 'zod'
import { parseTime } from '../../kit/clock.ts'
import { pickInstance } from '../../kit/instances.ts'
import { pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { quote, toAgeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { jellyfinSpec } from '../config.ts'
import { readItems, readLibraries } from '../upstreams/jellyfin/jellyfin.ts'
import { findLibrary, toKind } from '../upstreams/jellyfin/libraries.ts'
import { toItemTitle } from '../upstreams/jellyfin/playing.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { instanceField, READ, titleOutput } from './common.ts'

const output = z.object({
  instance: z.string(),
  items: z.array(
    z.object({
      title: titleOutput,
      type: z.string().describe('movie, episode or album'),
      library: titleOutput,
      addedAt: z.number().optional().describe('unix milliseconds'),
    }),
  ),
  ...pageOutput,
})

/** `get_recently_added`: new items in Jellyfin's libraries, newest first. */
export function getRecentlyAdded({ jellyfins, clock }: Media): Tool {
  return defineTool({
    name: 'get_recently_added',
    title: 'Recently added',
    description:
      'What was added to Jellyfin lately, the newest first: films, episodes, albums. For "what is new", or ' +
      'whether something has arrived.',
    annotations: READ,
    input: z.strictObject({
      ...pageFields(10, 100),
      type: z.enum(['movie', 'show', 'music']).optional(),
      instance: instanceField,
    }),
    output,
    async run({ limit, offset, type, instance }, signal) {
      const jellyfin = pickInstance(jellyfins, instance, jellyfinSpec)
      const types = toTypes(type)
      const [{ items, total }, libraries] = await Promise.all([
        readItems(jellyfin, { types, limit, offset, newest: true }, signal),
        readLibraries(jellyfin, signal),
      ])
      const found = items.map(item => ({
        title: toItemTitle(item),
        type: toKind(item),
        library: findLibrary(item, libraries),
        addedAt: parseTime(item.DateCreated),
      }))
      const part = { items: found, total, offset, more: offset + found.length < total }
      const lines = found.map(({ title, type, library, addedAt }) => {
        const when = addedAt === undefined ? '' : `, ${toAgeText(addedAt, clock.now())}`
        return `${quote(title)} (${type}) in ${quote(library, 60)}${when}`
      })
      const head =
        found.length > 0 ? 'Added to Jellyfin last:' : 'Nothing was found in the libraries of Jellyfin.'
      return {
        data: { instance: jellyfin.name, ...part },
        text: [head, lines, toMoreText(part, 'title')],
        untrusted: found.length > 0,
      }
    },
  })
}

function toTypes(type: 'movie' | 'show' | 'music' | undefined) {
  switch (type) {
    case 'movie':
      return ['Movie'] as const
    case 'show':
      return ['Episode'] as const
    case 'music':
      return ['MusicAlbum'] as const
    case undefined:
      return ['Movie', 'Episode', 'MusicAlbum'] as const
    default:
      return type satisfies never
  }
}
