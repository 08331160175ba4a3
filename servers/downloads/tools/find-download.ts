import { z } from 'zod'
import { ToolFailure } from '../../kit/failure.ts'
import { quote } from '../../kit/text.ts'
import { type NamedClient, rareClientField } from '../upstreams/clients.ts'
import type { Download, Finished } from '../upstreams/download-client.ts'
import { onClients, toFailedLines, toValues } from './on-clients.ts'

const MAX_NAMED = 8

/** Returns the arguments that identify a download. */
export const downloadFields = (clients: readonly NamedClient[]) => ({
  download: z.string().trim().min(1).max(300).describe('enough of its name, or its id'),
  client: rareClientField(clients),
})

export type Found =
  | { client: NamedClient; list: 'downloads'; download: Download }
  | { client: NamedClient; list: 'finished'; download: Finished }

/** Finds the one unfinished download that is meant; see `findDownload`. */
export async function findUnfinished(
  clients: readonly NamedClient[],
  wanted: string,
  signal: AbortSignal,
): Promise<Found & { list: 'downloads' }> {
  const found = await findDownload(clients, wanted, { finished: false, signal })
  if (found.list === 'downloads') return found
  throw new Error('A finished download was found where only unfinished ones were looked at')
}

/**
 * Finds the one download that is meant, by id or name, among the unfinished ones, and with `finished` among
 * the finished ones too. Throws a ToolFailure that lists the candidates if none or several match.
 */
export async function findDownload(
  clients: readonly NamedClient[],
  wanted: string,
  options: { finished: boolean; signal: AbortSignal },
): Promise<Found> {
  const outcomes = await onClients(clients, 'No download client could be asked.', async named => {
    const { downloads, finished } = await named.client.look(options.signal)
    const open = downloads.map((download): Found => ({ client: named, list: 'downloads', download }))
    const ids = new Set(downloads.map(({ id }) => id))
    const done = finished
      .filter(({ id }) => !ids.has(id))
      .map((download): Found => ({ client: named, list: 'finished', download }))
    return options.finished ? [...open, ...done] : open
  })
  options.signal.throwIfAborted()
  const all = toValues(outcomes).flatMap(({ value }) => value)
  const fitting = decideFit(all, wanted, ({ download }) => download)
  const [only] = fitting
  if (only && fitting.length === 1) return only
  throw fitting.length > 1
    ? toAmbiguous(wanted, fitting)
    : toUnknown(wanted, all, toFailedLines(outcomes), options.finished)
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
  const shown = fitting.slice(0, MAX_NAMED).map(one => {
    const { client, download } = one
    const isTwin = (other: Found) =>
      other !== one && other.client === client && other.download.name === download.name
    const id = fitting.some(isTwin) ? `, id ${quote(download.id)}` : ''
    return `${quote(download.name, 100)} (${client.name}${id})`
  })
  const rest = fitting.length > shown.length ? ` and ${fitting.length - shown.length} more` : ''
  return new ToolFailure({
    what: `Nothing was done: ${fitting.length} downloads fit ${quote(wanted, 100)}.`,
    where: [...new Set(fitting.map(({ client }) => client.name))].join(', '),
    why: `it may be ${shown.join(', ')}${rest}`,
    fix: 'Call it again with more of the name, with client, or with the id.',
  })
}

function toUnknown(
  wanted: string,
  all: readonly Found[],
  failed: readonly string[],
  withFinished: boolean,
): ToolFailure {
  const names = all.slice(0, MAX_NAMED).map(({ download }) => quote(download.name, 100))
  const rest = all.length > names.length ? ` and ${all.length - names.length} more` : ''
  const kind = withFinished ? 'download' : 'unfinished download'
  const there = names.length === 0 ? `there is no ${kind} at all` : `there is ${names.join(', ')}${rest}`
  return new ToolFailure({
    what: `Nothing was done: no ${kind} is called ${quote(wanted, 100)}.`,
    where: 'the download clients',
    why: [there, ...failed].join('; '),
    fix: 'Look at get_download_status for the names, then call it again.',
  })
}
