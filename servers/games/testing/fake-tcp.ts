import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface FakeTcp extends AsyncDisposable {
  readonly port: number
}

/** Starts a TCP server on a free port of this machine that handles each connection as the test says. */
export async function startFakeTcp(onSocket: (socket: Socket) => void): Promise<FakeTcp> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
