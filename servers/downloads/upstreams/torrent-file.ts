import { createHash } from 'node:crypto'
import { cleanText } from '../../kit/text.ts'
import type { Source } from './download-client.ts'

/** A torrent's identity: the id that clients give it (40 hex digits), and its name if it is known. */
export interface TorrentIdentity {
  id: string
  name?: string | undefined
}

/** Returns the identity known before the addition; undefined for an address. */
export function toIdentity(source: Source): TorrentIdentity | undefined {
  if (source.kind === 'magnet') return readMagnet(source.url)
  return source.kind === 'torrent' ? readTorrentFile(source.bytes) : undefined
}

/**
 * Reads the identity of a .torrent file (BEP 3, BEP 52: of version 2 the first 20 bytes of the hash);
 * undefined if the file is invalid.
 */
export function readTorrentFile(bytes: Uint8Array): TorrentIdentity | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const info = findEntry(data, 0, 'info')
  if (!info || data[info.start] !== LETTER.d) return undefined
  const isVersion1 = findEntry(data, info.start, 'pieces') !== undefined
  const hash = createHash(isVersion1 ? 'sha1' : 'sha256').update(data.subarray(info.start, info.end))
  const name = findEntry(data, info.start, 'name')
  const words = name && readText(data, name.start)
  return {
    id: hash.digest('hex').slice(0, 40),
    name: words && cleanText(words.text.toString('utf8')),
  }
}

/** Reads the identity of a magnet link with a version 1 hash, in hex or base 32; else undefined. */
export function readMagnet(link: string): TorrentIdentity | undefined {
  const query = new URLSearchParams(link.slice(link.indexOf('?') + 1))
  const topic = query.getAll('xt').find(one => /^urn:btih:/i.test(one))
  const hash = topic?.slice('urn:btih:'.length)
  const id = hash === undefined ? undefined : toHex(hash)
  const name = query.get('dn')
  return id === undefined ? undefined : { id, name: name === null ? undefined : cleanText(name) }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function toHex(hash: string): string | undefined {
  if (/^[0-9a-f]{40}$/i.test(hash)) return hash.toLowerCase()
  if (!/^[A-Z2-7]{32}$/i.test(hash)) return undefined
  const bits = [...hash.toUpperCase()].map(letter => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
  const nibbles = bits.join('').match(/.{4}/g) ?? []
  return nibbles.map(nibble => Number.parseInt(nibble, 2).toString(16)).join('')
}

const LETTER = { d: 100, e: 101, i: 105, l: 108 } as const
const MAX_DEPTH = 50

interface Slice {
  start: number
  end: number
}

/** Finds the value of a key in the dictionary at `start`. */
function findEntry(data: Buffer, start: number, key: string): Slice | undefined {
  if (data[start] !== LETTER.d) return undefined
  let at = start + 1
  while (at < data.length && data[at] !== LETTER.e) {
    const name = readText(data, at)
    const end = name && skip(data, name.end, 0)
    if (!name || end === undefined) return undefined
    if (name.text.toString('latin1') === key) return { start: name.end, end }
    at = end
  }
  return undefined
}

/** Reads a bencoded string: "4:name". */
function readText(data: Buffer, start: number): { text: Buffer; end: number } | undefined {
  const colon = data.indexOf(58, start)
  const digits = colon < 0 || colon - start > 10 ? '' : data.toString('latin1', start, colon)
  if (!/^\d+$/.test(digits)) return undefined
  const end = colon + 1 + Number(digits)
  return end > data.length ? undefined : { text: data.subarray(colon + 1, end), end }
}

/** Returns the end of the value at `start`; undefined if the value is invalid. */
function skip(data: Buffer, start: number, depth: number): number | undefined {
  const kind = data[start]
  if (kind === LETTER.i) {
    const end = data.indexOf(LETTER.e, start)
    return end < 0 ? undefined : end + 1
  }
  if (kind !== LETTER.d && kind !== LETTER.l) return readText(data, start)?.end
  if (depth >= MAX_DEPTH) return undefined
  let at: number | undefined = start + 1
  while (at !== undefined && at < data.length && data[at] !== LETTER.e) at = skip(data, at, depth + 1)
  return at === undefined || at >= data.length ? undefined : at + 1
}
