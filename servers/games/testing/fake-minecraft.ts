import { type FakeTcp, startFakeTcp } from './fake-tcp.ts'

export interface FakeMinecraftOptions {
  /** JSON of the status, or any other text. */
  status: unknown
  /** True (default) to answer the ping after the status. */
  pong?: boolean
}

/**
 * Starts a TCP server that answers any request with the status of the Java edition, in pieces of 700 bytes.
 */
export async function startFakeMinecraft({ status, pong = true }: FakeMinecraftOptions): Promise<FakeTcp> {
  const text = Buffer.from(typeof status === 'string' ? status : JSON.stringify(status))
  const answer = toPacket(0, Buffer.concat([toVarInt(text.length), text]))
  return await startFakeTcp(socket => {
    let asked = 0
    socket.on('data', piece => {
      asked += piece.length
      if (piece.at(-9) === 1 && asked > 12) {
        if (pong) socket.write(toPacket(1, piece.subarray(-8)))
        else socket.end()
        return
      }
      for (let from = 0; from < answer.length; from += 700) socket.write(answer.subarray(from, from + 700))
    })
  })
}

function toPacket(id: number, content: Buffer): Buffer {
  return Buffer.concat([toVarInt(content.length + 1), Buffer.from([id]), content])
}

function toVarInt(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; ; left >>>= 7) {
    bytes.push(left > 0x7f ? (left & 0x7f) | 0x80 : left)
    if (left <= 0x7f) return Buffer.from(bytes)
  }
}
