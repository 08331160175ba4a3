import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy before a server, which breaks its connections when it is told to. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /**
   * Cuts the next connection over which `statement` is sent: before it is passed on, or once the server has
   * answered it. Resolves when that has happened.
   */
  cut(statement: string, when: 'before' | 'after'): Promise<void>
  /** Cuts every connection. */
  cutAll(): void
  /** Takes no further connections until it is told to; those that are open stay. */
  refuse(isRefused: boolean): void
  /** Passes nothing on and cuts nothing, as a network that loses all packets, until it is told to. */
  hush(isSilent: boolean): void
}

/** Returns a statement without parameters as it is sent: its length, then its text. */
function toMessage(statement: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(length.length + statement.length + 1)
  return Buffer.concat([length, Buffer.from(`${statement}\0`)])
}

/** Opens a proxy before a port of this machine. `delay` is what each way takes longer, in milliseconds. */
export async function openCuttingProxy(upstreamPort: number, delay = 0): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let cut: { message: Buffer; when: 'before' | 'after'; done: () => void } | undefined
  const is = { refused: false, silent: false }
  const pass = (to: Socket, data: Buffer) => {
    if (delay === 0) to.write(data)
    // Timers of the same delay keep their order.
    else setTimeout(() => to.writable && to.write(data), delay)
  }
  const server = createServer(client => {
    if (is.refused) return void client.destroy()
    const upstream = connect(upstreamPort, '127.0.0.1')
    let onAnswer: (() => void) | undefined
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', data => {
      if (cut && data.includes(cut.message)) {
        const { when, done } = cut
        cut = undefined
        onAnswer = () => {
          end()
          done()
        }
        if (when === 'before') return onAnswer()
      }
      pass(upstream, data)
    })
    upstream.on('data', data => (onAnswer ? onAnswer() : pass(client, data)))
    if (is.silent) for (const socket of [client, upstream]) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const closed = once(server, 'close')
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    cut(statement, when) {
      const { promise, resolve } = Promise.withResolvers<void>()
      cut = { message: toMessage(statement), when, done: resolve }
      return promise
    },
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
    refuse(isRefused) {
      is.refused = isRefused
    },
    hush(isSilent) {
      is.silent = isSilent
      for (const socket of sockets) isSilent ? socket.pause() : socket.resume()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await closed
    },
  }
}
