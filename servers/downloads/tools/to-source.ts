import { ToolFailure } from '../../kit/failure.ts'
import { cleanText } from '../../kit/text.ts'
import type { Source } from '../upstreams/download-client.ts'
import { readTorrentFile } from '../upstreams/torrent-file.ts'

const MAX_BYTES = 10 * 1024 * 1024
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/**
 * Checks the given source: one address that a client may load (magnet, http, https), or a file that is a
 * torrent or an NZB. Throws a ToolFailure. The client opens the address, so `file:` and the like would give
 * access to the client's own disk.
 */
export function toSource(given: {
  url?: string | undefined
  file?: string | undefined
  fileName?: string | undefined
}): Source {
  const { url, file, fileName } = given
  if ((url === undefined) === (file === undefined)) {
    throw toWrong(
      'url, file',
      url === undefined ? 'neither url nor file was given' : 'both url and file were given',
      'Give one of them.',
    )
  }
  return url === undefined ? toFile(file ?? '', fileName) : toAddress(url)
}

/** Matches line breaks: qBittorrent reads every line as another address, even as a path on its disk. */
const BREAKS = /[\p{Cc}\u2028\u2029]/u

function toAddress(url: string): Source {
  if (BREAKS.test(url)) {
    throw toWrong('url', 'it has more than one line, or control characters', 'Give one address on one line.')
  }
  if (/^magnet:\?/i.test(url)) {
    if (/[?&]xt=urn:bt[im]h:/i.test(url)) return { kind: 'magnet', url }
    throw toWrong('url', 'the magnet link names no torrent (xt=urn:btih:…)', 'Check the link.')
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https') {
    const why = scheme === undefined ? 'it is no address' : `${cleanText(scheme, 20)} addresses are not taken`
    throw toWrong('url', why, 'Give a magnet link, or an http or https address.')
  }
  if (!URL.canParse(url)) throw toWrong('url', 'it is no valid address', 'Check the address.')
  return { kind: 'url', url }
}

function toFile(base64: string, fileName: string | undefined): Source {
  const text = base64.replace(/\s+/g, '')
  if (text === '' || !BASE64.test(text))
    throw toWrong('file', 'it is not base64', 'Encode the file in base64.')
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length > MAX_BYTES) throw toWrong('file', 'it is larger than 10 MiB', 'Give its address instead.')
  if (/<nzb[\s>]/i.test(bytes.toString('latin1', 0, 4096))) {
    return { kind: 'nzb', bytes, fileName: toFileName(fileName, 'nzb') }
  }
  if (readTorrentFile(bytes)) return { kind: 'torrent', bytes, fileName: toFileName(fileName, 'torrent') }
  throw toWrong('file', 'it is neither a .torrent nor an .nzb file', 'Check that it is the whole file.')
}

/** Returns the last part of a path, with the ending that clients expect. */
function toFileName(given: string | undefined, ending: string): string {
  const bare = cleanText(given ?? '', 150)
    .replace(/^.*[/\\]/, '')
    .replace(/["*:<>?|]/g, ' ')
    .trim()
  if (bare === '' || bare === '.' || bare === '..') return `download.${ending}`
  return bare.toLowerCase().endsWith(`.${ending}`) ? bare : `${bare}.${ending}`
}

function toWrong(where: string, why: string, fix: string): ToolFailure {
  return new ToolFailure({ what: 'Nothing was added.', where, why, fix })
}
