import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Address and password of a Quake 3 server. */
export interface RconTarget {
  /** An IPv4 address; default 127.0.0.1. */
  address?: string
  port: number
  password: string
}

/** Sends a command over Quake 3's rcon; resolves with the text of the answer's first packet. */
export async function sendRcon(
  { address = '127.0.0.1', port, password }: RconTarget,
  command: string,
): Promise<string> {
  const socket = createSocket('udp4')
  try {
    socket.connect(port, address)
    await once(socket, 'connect')
    socket.send(Buffer.from(`\xff\xff\xff\xffrcon "${password}" ${command}`, 'latin1'))
    const [packet] = (await once(socket, 'message', { signal: AbortSignal.timeout(2_000) })) as [Buffer]
    return packet.toString('latin1').slice(4)
  } finally {
    socket.close()
  }
}
