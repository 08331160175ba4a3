import { z } from 'zod'
import type { Access } from '../../kit/access.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { toListText } from '../../kit/render.ts'
import { quote } from '../../kit/text.ts'
import { type NamedClient, pickClients, rareClientField } from '../upstreams/clients.ts'
import type { Download, Finished } from '../upstreams/download-client.ts'
import type { ToolDeps } from './deps.ts'
import { onClients, toFailedLines } from './on-clients.ts'
import type { Waiting } from './until-shown.ts'

const MAX_NAMED = 8

/** Returns the arguments that identify a download. */
export const downloadFields = (clients: readonly NamedClient[]) => ({
  download: z.string().trim().min(1).max(300).describe('enough of its name, or its id'),
  client: rareClientField(clients),
})

/** Output fields of a tool that changes one download. */
export const downloadOutput = { client: z.string(), id: z.string(), name: foreignText() }

export type Found =
  | { client: NamedClient; list: 'downloads'; download: Download }
  | { client: NamedClient; list: 'finished'; download: Finished }

/** A found download, with the output fields that name it and what a wait for its change needs. */
export type Picked = Found & { about: { client: string; id: string; name: string }; waiting: Waiting }

/**
 * Finds the one download that is meant, by id or name, among the unfinished ones, and with `finished` among
 * the finished ones too. Throws a ToolFailure that lists the candidates if none or several match, or if the
 * client's settings do not allow the access.
 */
export async function findDownload(
  { clients, clock }: ToolDeps,
  wanted: { download: string; client?: string | undefined },
  options: { access: Access; finished: boolean },
  signal: AbortSignal,
): Promise<Picked> {
  const picked = pickClients(clients, wanted.client)
  const { done, failed } = await onClients(picked, 'No download client could be asked.', async client => {
    const { downloads, finished } = await client.readSnapshot(signal)
    const open = downloads.map((download): Found => ({ client, list: 'downloads', download }))
    const ids = new Set(downloads.map(({ id }) => id))
    const ended = finished.filter(({ id }) => options.finished && !ids.has(id))
    return [...open, ...ended.map((download): Found => ({ client, list: 'finished', download }))]
  })
  signal.throwIfAborted()
  const all = done.flatMap(({ value }) => value)
  const fitting = decideFit(all, wanted.download, ({ download }) => download)
  const [only] = fitting
  if (fitting.length > 1) throw toAmbiguous(wanted.download, fitting)
  if (!only) throw toUnknown(wanted.download, all, toFailedLines(failed), options.finished)
  const { client } = only
  const { id, name } = only.download
  client.require(options.access)
  return { ...only, about: { client: client.name, id, name }, waiting: { client, clock, signal } }
}

/** Finds the one unfinished download that is meant, of a client that may be changed. */
export async function findUnfinished(
  deps: ToolDeps,
  wanted: { download: string; client?: string | undefined },
  signal: AbortSignal,
): Promise<Picked & { list: 'downloads' }> {
  const found = await findDownload(deps, wanted, { access: 'change', finished: false }, signal)
  if (found.list === 'downloads') return found
  throw new Error('A finished download was found where only unfinished ones were looked at')
}

/** Returns the best matches: by id, else by the whole name, else by all the given words. */
export function decideFit<Item>(
  items: readonly Item[],
  wanted: string,
  of: (item: Item) => { id: string; name: string },
): Item[] {
  const name = toWords(wanted)
  const tests: ((one: { id: string; name: string }) => boolean)[] = [
    ({ id }) => id.toLowerCase() === wanted.toLowerCase(),
    one => one.name === wanted,
    one => toWords(one.name).join(' ') === name.join(' '),
    one => ` ${toWords(one.name).join(' ')} `.includes(` ${name.join(' ')} `),
    one => name.every(word => toWords(one.name).includes(word)),
    one => name.every(word => toWords(one.name).some(other => other.startsWith(word))),
  ]
  if (name.length === 0) tests.splice(2)
  for (const test of tests) {
    const fitting = items.filter(item => test(of(item)))
    if (fitting.length > 0) return fitting
  }
  return []
}

/** Splits into words, because release names have dots and underscores for spaces. */
function toWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function toAmbiguous(wanted: string, fitting: readonly Found[]): ToolFailure {
  const toText = (one: Found) => {
    const { client, download } = one
    const isTwin = (other: Found) =>
      other !== one && other.client === client && other.download.name === download.name
    const id = fitting.some(isTwin) ? `, id ${quote(download.id)}` : ''
    return `${quote(download.name, 100)} (${client.name}${id})`
  }
  return new ToolFailure({
    what: `Nothing was done: ${fitting.length} downloads fit ${quote(wanted, 100)}.`,
    where: [...new Set(fitting.map(({ client }) => client.name))].join(', '),
    why: `it may be ${toListText(fitting, MAX_NAMED, toText)}`,
    fix: 'Call it again with more of the name, with client, or with the id.',
  })
}

function toUnknown(
  wanted: string,
  all: readonly Found[],
  failed: readonly string[],
  withFinished: boolean,
): ToolFailure {
  const names = toListText(all, MAX_NAMED, ({ download }) => quote(download.name, 100))
  const kind = withFinished ? 'download' : 'unfinished download'
  const there = names === '' ? `there is no ${kind} at all` : `there is ${names}`
  return new ToolFailure({
    what: `Nothing was done: no ${kind} is called ${quote(wanted, 100)}.`,
    where: 'the download clients',
    why: [there, ...failed].join('; '),
    fix: 'Look at get_download_status for the names, then call it again.',
  })
}
