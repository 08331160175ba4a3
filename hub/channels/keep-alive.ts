import type { WebSocket } from 'ws'
import type { Clock } from '../core/clock.ts'

/** Milliseconds between two pings of a socket. */
export const PING_MS = 30_000

/**
 * Ends the socket when its client is gone without a close, as after a sleep or a lost network: TCP alone
 * notices that after hours, or never. Every browser and library answers a ping by itself. Returns a function
 * that stops the pings.
 */
export function keepAlive(ws: WebSocket, clock: Pick<Clock, 'after'>): () => void {
  let isHeard = true
  const hear = () => {
    isHeard = true
  }
  const look = () => {
    // A paused socket is not read, so its silence proves nothing.
    if (!isHeard && !ws.isPaused) return ws.terminate()
    isHeard = false
    ws.ping()
    cancel = clock.after(PING_MS, look)
  }
  ws.on('pong', hear)
  ws.on('message', hear)
  let cancel = clock.after(PING_MS, look)
  return () => cancel()
}
