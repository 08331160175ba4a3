import { once } from 'node:events'
import { connect } from 'node:net'

/** Whether something takes connections at this port of 127.0.0.1. Rejects where nothing does. */
export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}
