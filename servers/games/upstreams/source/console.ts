import { randomInt } from 'node:crypto'
import { type Clock, sleep } from '../../../kit/clock.ts'
import type { Exchange } from '../exchange.ts'
import { wrongPassword } from '../exchange.ts'
import { openWire, type Wire } from '../tcp.ts'
import { createSplitter, type Packet, packetBytes, TYPES } from './packet.ts'

/**
 * Milliseconds without packets after which an answer is complete, for servers that do not answer the mark.
 */
const QUIET = 500
const MAX_BYTES = 1024 * 1024

/**
 * Sends a command over the Source RCON protocol, which Minecraft speaks too (Valve's wiki, "Source RCON
 * Protocol"): a login packet, the command, and a mark, an empty packet that the server echoes after the last
 * packet of the answer. The mark is sent after the first packet of the answer: Minecraft closes a connection
 * when two packets arrive as one piece.
 */
export async function askSource(exchange: Exchange): Promise<string> {
  const { host, port, password, command, where, clock, signal } = exchange
  using wire = await openWire(host, port, signal)
  const read = createPacketReader(wire)
  const first = randomInt(1, 2 ** 30)
  const [login, run, mark] = [first, first + 1, first + 2]
  wire.write(packetBytes({ id: login, type: TYPES.login, body: Buffer.from(password) }))
  if (!(await isLoggedIn(read, login))) throw wrongPassword(where)
  wire.write(packetBytes({ id: run, type: TYPES.command, body: Buffer.from(command) }))
  const pieces = [(await nextOf(read, [run])).body]
  wire.write(packetBytes({ id: mark, type: TYPES.answer, body: Buffer.alloc(0) }))
  for (let bytes = 0; bytes < MAX_BYTES; ) {
    const packet = await unlessQuiet(nextOf(read, [run, mark]), clock, signal)
    if (packet === undefined || packet.id === mark) break
    pieces.push(packet.body)
    bytes += packet.body.length
  }
  return Buffer.concat(pieces).toString('utf8')
}

type Read = () => Promise<Packet>

function createPacketReader(wire: Wire): Read {
  const splitter = createSplitter()
  const waiting: Packet[] = []
  return async () => {
    for (;;) {
      const packet = waiting.shift()
      if (packet) return packet
      waiting.push(...splitter(await wire.read()))
    }
  }
}

/** Tells whether the login succeeded: its answer has its own id, or -1; an empty answer may come before. */
async function isLoggedIn(read: Read, id: number): Promise<boolean> {
  for (;;) {
    const packet = await read()
    if (packet.type === TYPES.loggedIn) return packet.id === id
  }
}

async function nextOf(read: Read, ids: readonly number[]): Promise<Packet> {
  for (;;) {
    const packet = await read()
    if (ids.includes(packet.id)) return packet
  }
}

/** Returns undefined if nothing comes for a while, or the other side closes after its answer. */
async function unlessQuiet(
  packet: Promise<Packet>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Packet | undefined> {
  const over = new AbortController()
  const closed = () => signal.throwIfAborted()
  try {
    return await Promise.race([
      packet.catch(closed as () => undefined),
      sleep(clock, QUIET, over.signal).then(() => undefined),
    ])
  } finally {
    over.abort()
  }
}
