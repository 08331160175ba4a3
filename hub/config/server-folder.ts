import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type ServerEntry, serverEntry } from '../../schemas/config.ts'
import { toServerNames } from '../../schemas/names.ts'
import type { ToolRules } from '../../schemas/tool-rules.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { writeWhole, writing } from './write-file.ts'

/** A server below `<data>/servers`: an entry, or a program of the user's own. */
export type DroppedIn = { folder: string; disabled: boolean } & (
  | { kind: 'entry'; file: string; tools: ToolRules | undefined }
  | { kind: 'program' }
)

const MANIFEST = 'mcp.json'
const DISABLED = 'disabled'
const PROGRAM = /^server\.(ts|js|mjs)$/

/** Returns the dropped-in server of this name; undefined where there is none. */
export function findDroppedIn(serversFolder: string, name: string): DroppedIn | undefined {
  const folder = join(serversFolder, folderOf(serversFolder, name))
  const names = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
  if (names.some(one => PROGRAM.test(one))) {
    return { kind: 'program', folder, disabled: names.includes(DISABLED) }
  }
  if (!names.includes(MANIFEST)) return undefined
  const file = join(folder, MANIFEST)
  const { disabled, tools } = readManifest(file).data ?? {}
  return { kind: 'entry', folder, file, disabled: disabled === true, tools }
}

/** Returns the folder's name of a server, which may differ from the server's name. */
function folderOf(serversFolder: string, name: string): string {
  const folders = existsSync(serversFolder) ? readdirSync(serversFolder) : []
  const own = folders.filter(one => !one.startsWith('.')).sort((a, b) => (a < b ? -1 : 1))
  return [...toServerNames(own)].find(([, server]) => server === name)?.[0] ?? name
}

/** Writes an entry so that a hub sees it whole or not at all; only the owner can read it. */
export function writeEntry(serversFolder: string, name: string, entry: ServerEntry): string {
  const file = join(serversFolder, folderOf(serversFolder, name), MANIFEST)
  writing(file, () => {
    mkdirSync(serversFolder, { recursive: true, mode: 0o755 })
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeWhole(file, `${JSON.stringify(entry, undefined, 2)}\n`, { mode: 0o600 })
  })
  return file
}

/** Moves a folder to a place that no hub reads; nothing is deleted. Returns the new path. */
export function putAside(serversFolder: string, name: string): string {
  const candidates = Array.from({ length: 1_000 }, (_, index) =>
    join(serversFolder, `.removed-${name}${index === 0 ? '' : `-${index + 1}`}`),
  )
  const place = candidates.find(path => !existsSync(path))
  if (place === undefined) {
    throw new HubError('conflict', `${serversFolder} holds a thousand folders .removed-${name}: delete some`)
  }
  writing(place, () => renameSync(join(serversFolder, folderOf(serversFolder, name)), place))
  return place
}

/** Moves a folder that was put aside back to its place. */
export function putBack(aside: string, folder: string): void {
  writing(folder, () => renameSync(aside, folder))
}

/** Switches a dropped-in server off or on: an entry by its key, a program by an empty file beside it. */
export function setDisabled(serversFolder: string, name: string, found: DroppedIn, disabled: boolean): void {
  if (found.kind === 'entry') {
    const { disabled: _, ...entry } = readOwnEntry(found.file)
    writeEntry(serversFolder, name, disabled ? { ...entry, disabled } : entry)
    return
  }
  const marker = join(found.folder, DISABLED)
  writing(marker, () => (disabled ? writeFileSync(marker, '') : rmSync(marker, { force: true })))
}

/** Writes which tools the hub takes of a dropped-in entry; all of them if `tools` is undefined. */
export function setTools(
  serversFolder: string,
  name: string,
  found: Extract<DroppedIn, { kind: 'entry' }>,
  tools: ToolRules | undefined,
): { file: string } {
  const { tools: _, ...entry } = readOwnEntry(found.file)
  return { file: writeEntry(serversFolder, name, tools ? { ...entry, tools } : entry) }
}

function readOwnEntry(file: string): ServerEntry {
  const { data } = readManifest(file)
  if (data) return data
  throw new HubError('conflict', `${file} is no JSON object of one server: change it by hand`)
}

function readManifest(file: string) {
  return serverEntry.safeParse(parseJson(readFileSync(file, 'utf8')))
}
