import { z } from 'zod'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { cleanText, quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { clientField, type NamedClient, pickClients } from '../upstreams/clients.ts'
import type { Source } from '../upstreams/download-client.ts'
import type { ToolDeps } from './deps.ts'
import { toSource } from './to-source.ts'
import { isShownSoon, type Waiting } from './until-shown.ts'

const MAX_FILE = 14_000_000

const input = (clients: readonly NamedClient[]) =>
  z.strictObject({
    url: z.string().trim().max(10_000).optional().describe('magnet link or http(s) address'),
    file: z.string().max(MAX_FILE).optional().describe('instead of url: the file in base64, at most 10 MB'),
    fileName: z.string().max(200).optional(),
    client: clientField(clients),
    category: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .regex(/^[^\r\n,]+$/)
      .optional()
      .describe("one of the client's; a label in Transmission"),
    paused: z.boolean().default(false),
  })

const output = z.object({
  client: z.string(),
  id: z.string().optional().describe('absent where the client only loads the file later'),
  name: foreignText().optional(),
  added: z.boolean().describe('false: the client had it before'),
  note: z.string().optional(),
})

/** `add_download`: adds a download by address, magnet link or file. */
export function addDownload({ clients, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'add_download',
    title: 'Add a download',
    description:
      'Adds a download: a magnet link, the address of a .torrent or .nzb file, or such a file itself. ' +
      'Torrents go to a torrent client, NZB files to SABnzbd; name client where the address does not tell. ' +
      'It begins at once unless paused.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input: input(clients),
    output,
    async run({ url, file, fileName, client: name, category, paused }, signal) {
      const all = pickClients(clients, name)
      const source = toSource({ url, file, fileName })
      const named = pickTaker(all, source)
      named.require('change')
      const result = await named.add({ source, category, paused }, signal)
      const { id, name: title, known } = result
      const isThere = known || (await isListed({ client: named, clock, signal }, id, paused))
      const note = isThere
        ? result.note
        : `${named.name} does not show it so yet; look at get_download_status.`
      const what = title === undefined ? 'It' : quote(title)
      const text = known
        ? `Nothing was added: ${named.name} has ${title === undefined ? 'it' : quote(title)} already.`
        : `${what} was added to ${named.name}${paused ? ', paused' : ''}.`
      const data = { client: named.name, id, name: title, added: !known, note }
      return { data, text: [text, note].filter(Boolean).join(' '), untrusted: title !== undefined }
    },
  })
}

/** Tells whether the download is listed. A client that loads the file later gives no id to look for. */
async function isListed(waiting: Waiting, id: string | undefined, paused: boolean): Promise<boolean> {
  if (id === undefined) return true
  return isShownSoon(waiting, snapshot => {
    // A torrent client first checks for existing data; only then is the download paused.
    const found = [...snapshot.downloads, ...snapshot.finished].find(one => one.id === id)
    return found !== undefined && !(paused && 'state' in found && found.state === 'checking')
  })
}

/**
 * Returns the first client that accepts this kind of file. If an address does not show its kind, all clients
 * must accept the same one.
 */
function pickTaker(clients: readonly NamedClient[], source: Source): NamedClient {
  const wanted = toWanted(source)
  const fitting = wanted === undefined ? clients : clients.filter(({ takes }) => takes === wanted)
  const [first] = [...fitting.filter(({ problem }) => problem === undefined), ...fitting]
  if (!first) {
    throw new ToolFailure({
      what: 'Nothing was added: no download client here takes this.',
      where: clients.map(({ name }) => name).join(', '),
      why: wanted === 'nzb' ? 'an NZB file needs SABnzbd' : 'a torrent needs qBittorrent or Transmission',
      fix: 'Name another client, or ask the owner to configure one.',
    })
  }
  const isClear = fitting.every(({ takes }) => takes === first.takes)
  if (isClear) return first
  throw new ToolFailure({
    what: 'Nothing was added: the address does not say whether it is a torrent or an NZB file.',
    where: source.kind === 'url' ? cleanText(source.url.split(/[?#]/, 1)[0] ?? '', 100) : 'file',
    why: `there is ${clients.map(({ name, takes }) => `${name} for ${takes === 'nzb' ? 'NZB files' : 'torrents'}`).join(', ')}`,
    fix: 'Call it again with client.',
  })
}

function toWanted(source: Source): 'nzb' | 'torrent' | undefined {
  if (source.kind === 'nzb') return 'nzb'
  if (source.kind !== 'url') return 'torrent'
  const path = new URL(source.url).pathname.toLowerCase()
  if (/\.nzb(\.gz)?$/.test(path)) return 'nzb'
  return path.endsWith('.torrent') ? 'torrent' : undefined
}
