import { cleanText } from '../../../kit/text.ts'
import type { Item, Library } from './shapes.ts'

/** Returns the name of the library whose folders contain the file. */
export function findLibrary(item: Item, libraries: readonly Library[]): string {
  const path = item.Path ?? ''
  const holding = libraries.flatMap(library =>
    (library.Locations ?? [])
      .filter(
        folder =>
          path === folder ||
          path.startsWith(`${folder.replace(/(?<![/\\])[/\\]+$/, '')}${folder.includes('\\') ? '\\' : '/'}`),
      )
      .map(folder => ({ name: library.Name ?? '', length: folder.length })),
  )
  const [nearest] = holding.sort((a, b) => b.length - a.length)
  return nearest?.name || 'a library that is not known'
}

/** Returns "movie", "series", "episode" or "album". */
export function toKind(item: Item): string {
  return item.Type === 'MusicAlbum' ? 'album' : cleanText(item.Type ?? 'item', 40).toLowerCase()
}
