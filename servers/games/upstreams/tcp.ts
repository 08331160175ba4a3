import { once } from 'node:events'
import { connect } from 'node:net'

/** A TCP connection that is read piece by piece. */
export interface Wire extends Disposable {
  write(bytes: Uint8Array | string): void
  /**
   * Returns the next piece. Rejects when the other side is gone, or with the signal's reason. Only one read
   * at a time.
   */
  read(): Promise<Buffer>
}

/**
 * Connects. Rejects as the socket does, or with the signal's reason; the signal also closes the connection
 * later.
 */
export async function openWire(host: string, port: number, signal: AbortSignal): Promise<Wire> {
  const socket = connect({ host, port, noDelay: true, signal })
  // The reader reports later errors; a socket without a listener would end the process.
  socket.on('error', () => undefined)
  const pieces: AsyncIterator<Buffer, undefined> = socket[Symbol.asyncIterator]()
  try {
    await once(socket, 'connect', { signal })
  } catch (error) {
    socket.destroy()
    throw toReason(error, signal)
  }
  return {
    write: bytes => void socket.write(bytes),
    async read() {
      const next = await pieces.next().catch((error: unknown) => {
        throw toReason(error, signal)
      })
      signal.throwIfAborted()
      if (next.value === undefined) throw new Error('it closed the connection before the answer was whole')
      return next.value
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Returns the signal's reason for an aborted socket, whose own AbortError says less. */
function toReason(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : error
}
