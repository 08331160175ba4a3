import type { ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'

/** A client that is told nothing for so long may think that the hub is gone. */
const FIRST_SIGN_MS = 10_000
const NEXT_SIGN_MS = 15_000

/**
 * The answer to one request over HTTP: JSON where nothing but the answer is sent, and a stream of events as soon as
 * something is sent before it, or it takes long.
 */
export interface Reply {
  /** Sends a message before the answer. */
  send(message: object): void
  /** Sends the answer; `status` counts only where it is all that is sent. Nothing can be sent after it. */
  end(message: object | undefined, status?: number): void
}

export function createReply(response: ServerResponse, clock: Clock): Reply {
  let streams = false
  const beginStream = () => {
    if (streams) return
    streams = true
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    })
  }
  const giveSign = () => {
    beginStream()
    response.write(': still at work\n\n')
    cancelSign = clock.after(NEXT_SIGN_MS, giveSign)
  }
  let cancelSign = clock.after(FIRST_SIGN_MS, giveSign)
  response.on('close', () => cancelSign())
  return {
    send(message) {
      if (response.writableEnded) return
      beginStream()
      response.write(toEvent(message))
    },
    end(message, status = 200) {
      cancelSign()
      if (response.writableEnded) return
      if (!message) beginStream()
      if (streams) return void response.end(message ? toEvent(message) : '')
      const text = JSON.stringify(message)
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
      response.writeHead(status, headers).end(text)
    },
  }
}

function toEvent(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
