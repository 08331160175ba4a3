import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy before a server, which cuts a connection when a statement is sent over it. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /**
   * Cuts the next connection over which `statement` is sent: before it is passed on, or once the server has
   * answered it.
   */
  cut(statement: string, when: 'before' | 'after'): void
  /** Takes no further connections; those that are open stay. */
  refuse(): void
}

/** Returns a statement without parameters as it is sent: its length, then its text. */
function toMessage(statement: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(length.length + statement.length + 1)
  return Buffer.concat([length, Buffer.from(`${statement}\0`)])
}

export async function openCuttingProxy(port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let cut: { statement: string; when: 'before' | 'after' } | undefined
  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    let isCutting = false
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.on('data', data => {
      if (cut && data.includes(toMessage(cut.statement))) {
        const { when } = cut
        cut = undefined
        if (when === 'before') return end()
        isCutting = true
      }
      upstream.write(data)
    })
    upstream.on('data', data => (isCutting ? end() : client.write(data)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const closed = once(server, 'close')
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    cut(statement, when) {
      cut = { statement, when }
    },
    refuse: () => void server.close(),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await closed
    },
  }
}
