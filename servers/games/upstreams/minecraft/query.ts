import { z } from 'zod'
import type { Clock } from '../../../kit/clock.ts'
import { cleanText } from '../../../kit/text.ts'
import type { GameStatus } from '../../game.ts'
import { toNames, withoutSectionColors } from '../names.ts'
import { openWire, type Wire } from '../tcp.ts'

/**
 * Largest answer in bytes: with a picture of the server it has some ten thousand, with a list of mods a few
 * hundred thousand.
 */
const MAX_BYTES = 4 * 1024 * 1024
/** Protocol version that means none in particular: any version may request the status. */
const ANY_VERSION = -1
const NEXT_STATUS = 1
/** Name that a server shows for a player who does not want to be listed. */
const ANONYMOUS = /^Anonymous Player$/
const MAX_DEPTH = 16

const count = z.int().nonnegative()
const status = z.object({
  description: z.unknown(),
  version: z.object({ name: z.string() }).partial().optional().catch(undefined),
  players: z.object({
    online: count,
    max: count,
    sample: z
      .array(z.object({ name: z.string() }))
      .nullish()
      .catch(undefined),
  }),
})

/**
 * Requests the status of the Java edition, as its list of servers does (Minecraft protocol, "Server List
 * Ping"): handshake, status request, and a timed ping. Rejects as the socket does, or with an Error that says
 * what was wrong.
 */
export async function askMinecraft(
  host: string,
  port: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<GameStatus> {
  using wire = await openWire(host, port, signal)
  const next = createReader(wire)
  wire.write(Buffer.concat([toHandshake(host, port), toPacket(0)]))
  const text = readText(await next(0))
  const from = clock.monotonic()
  wire.write(toPacket(1, Buffer.alloc(8)))
  // Some proxies close without answering the ping; only the status is required.
  await next(1).catch(() => signal.throwIfAborted())
  return toStatus(text, Math.round(clock.monotonic() - from))
}

function toStatus(text: string, ping: number): GameStatus {
  const parsed = status.safeParse(parseJson(text))
  if (!parsed.success) throw new Error('the answer is no status of a Minecraft server')
  const { description, version, players } = parsed.data
  const name = version?.name ?? ''
  const sample = (players.sample ?? []).map(player => player.name).filter(known => !ANONYMOUS.test(known))
  return {
    name: cleanText(toPlainText(description, 0).replace(/\s+/g, ' '), 100),
    map: undefined,
    version: name === '' ? undefined : cleanText(withoutSectionColors(name), 100),
    players: players.online,
    maxPlayers: players.max,
    bots: 0,
    names: toNames(sample.map(withoutSectionColors), players.online),
    ping,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error('the answer is no JSON', { cause: error })
  }
}

/** Converts a text component: a string, or an object with `text` and parts in `extra`. */
function toPlainText(part: unknown, depth: number): string {
  if (typeof part === 'string') return withoutSectionColors(part)
  if (typeof part !== 'object' || part === null || depth > MAX_DEPTH) return ''
  if (Array.isArray(part)) return part.map(each => toPlainText(each, depth + 1)).join('')
  const { text, extra } = part as { text?: unknown; extra?: unknown }
  return `${toPlainText(text, depth + 1)}${toPlainText(extra, depth + 1)}`
}

/**
 * Returns a function that reads the next packet's content; it throws if the packet has another id than
 * expected.
 */
function createReader(wire: Wire): (id: number) => Promise<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  return async id => {
    for (;;) {
      const length = readVarInt(rest, 0)
      if (length && length.value > MAX_BYTES) throw new Error('the answer is too long for a status')
      if (length && rest.length >= length.end + length.value) {
        const packet = rest.subarray(length.end, length.end + length.value)
        rest = rest.subarray(length.end + length.value)
        const read = readVarInt(packet, 0)
        if (read?.value !== id) throw new Error('the answer is not of a Minecraft server')
        return packet.subarray(read.end)
      }
      rest = Buffer.concat([rest, await wire.read()])
    }
  }
}

function readText(packet: Buffer): string {
  const length = readVarInt(packet, 0)
  if (!length || packet.length < length.end + length.value) throw new Error('the answer is cut off')
  return packet.toString('utf8', length.end, length.end + length.value)
}

function toHandshake(host: string, port: number): Buffer {
  const name = Buffer.from(host, 'utf8')
  const portBytes = Buffer.alloc(2)
  portBytes.writeUInt16BE(port)
  return toPacket(
    0,
    Buffer.concat([toVarInt(ANY_VERSION), toVarInt(name.length), name, portBytes, toVarInt(NEXT_STATUS)]),
  )
}

function toPacket(id: number, content: Uint8Array = Buffer.alloc(0)): Buffer {
  const idBytes = toVarInt(id)
  return Buffer.concat([toVarInt(idBytes.length + content.length), idBytes, content])
}

/** Encodes seven bits a byte, the lowest first; the highest bit says that more bytes follow. */
function toVarInt(value: number): Buffer {
  const bytes: number[] = []
  let left = value >>> 0
  do {
    const more = left > 0x7f ? 0x80 : 0
    bytes.push((left & 0x7f) | more)
    left >>>= 7
  } while (left > 0)
  return Buffer.from(bytes)
}

/** Returns undefined if more bytes are needed; throws if it has more than five. */
function readVarInt(bytes: Buffer, from: number): { value: number; end: number } | undefined {
  let value = 0
  for (let index = 0; index < 5; index++) {
    const byte = bytes[from + index]
    if (byte === undefined) return undefined
    value |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return { value: value >>> 0, end: from + index + 1 }
  }
  throw new Error('the answer is not of a Minecraft server')
}
