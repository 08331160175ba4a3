import { once } from 'node:events'
import { connect } from 'node:net'

/** Resolves if a program accepts connections at this port of 127.0.0.1. Rejects otherwise. */
export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}
