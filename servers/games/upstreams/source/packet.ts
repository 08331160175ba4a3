/** Packet types; a login's answer and a command share a number. */
export const TYPES = { login: 3, loggedIn: 2, command: 2, answer: 0 } as const

/**
 * A packet: length, id, type (32 bits each, little-endian), the body, and two zero bytes; the length counts
 * all but itself.
 */
export interface Packet {
  id: number
  type: number
  body: Buffer
}

const HEAD = 8
const TAIL = 2
/** Largest packet: answers of 4 KiB are usual, but some games send more in one packet. */
const MAX_LENGTH = 1024 * 1024

export function packetBytes({ id, type, body }: Packet): Buffer {
  const bytes = Buffer.alloc(4 + HEAD + body.length + TAIL)
  bytes.writeInt32LE(HEAD + body.length + TAIL, 0)
  bytes.writeInt32LE(id, 4)
  bytes.writeInt32LE(type, 8)
  body.copy(bytes, 4 + HEAD)
  return bytes
}

/**
 * Returns a function that takes pieces and returns the complete packets. It throws if the bytes are not
 * packets.
 */
export function createSplitter(): (piece: Buffer) => Packet[] {
  let rest: Buffer = Buffer.alloc(0)
  return piece => {
    rest = Buffer.concat([rest, piece])
    const packets: Packet[] = []
    while (rest.length >= 4) {
      const length = rest.readInt32LE(0)
      if (length < HEAD + TAIL || length > MAX_LENGTH)
        throw new Error('what answers there is no RCON console')
      if (rest.length < 4 + length) break
      packets.push({
        id: rest.readInt32LE(4),
        type: rest.readInt32LE(8),
        body: rest.subarray(4 + HEAD, 4 + length - TAIL),
      })
      rest = rest.subarray(4 + length)
    }
    return packets
  }
}
