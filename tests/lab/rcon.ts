import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Where a Quake 3 server of this machine takes commands. */
export interface RconTarget {
  port: number
  password: string
}

/** Sends a command over Quake 3's rcon; resolves with what the first packet of the answer says. */
export async function sendRcon({ port, password }: RconTarget, command: string): Promise<string> {
  const socket = createSocket('udp4')
  try {
    socket.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.send(Buffer.from(`\xff\xff\xff\xffrcon "${password}" ${command}`, 'latin1'))
    const [packet] = (await once(socket, 'message', { signal: AbortSignal.timeout(2_000) })) as [Buffer]
    return packet.toString('latin1').slice(4)
  } finally {
    socket.close()
  }
}
