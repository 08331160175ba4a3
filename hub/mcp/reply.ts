import type { ServerResponse } from 'node:http'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import type { Clock } from '../core/clock.ts'
import type { Deadlines } from '../core/deadlines.ts'
import { createKeptEvents } from './kept-events.ts'

/** A client that is told nothing for so long may think that the hub is gone. */
export const FIRST_SIGN_MS = 10_000
const NEXT_SIGN_MS = 15_000
/** Of the events of one answer, so many and so many characters are kept for a client that lost its connection. */
const MOST_KEPT = { events: 1_000, characters: 4 * 1024 * 1024 }

/**
 * The answer to one request over HTTP: JSON where nothing but the answer is sent, and a stream of events as soon as
 * something is sent before it, or it takes long.
 */
export interface Reply {
  /** Sends a message before the answer. */
  send(message: object): void
  /** Sends the answer; `status` counts only where it is all that is sent. Nothing can be sent after it. */
  end(message: object | undefined, status?: number): void
  /** Goes on at another connection, with what was sent after this event. */
  resume(response: ServerResponse, lastEventId: string): void
  /** How many characters of its events are kept. */
  readonly kept: number
}

export interface ReplyOptions {
  clock: Clock
  /** Deadlines of `FIRST_SIGN_MS`. */
  firstSigns: Deadlines
  /** In front of the ids of its events; without it the stream cannot be resumed. */
  stream?: string | undefined
  /** Its client knows events that only name a place to go on from, as those from 2025-11-25 on do. */
  primes?: boolean
  /** It became a stream that can be resumed, or keeps one more event. */
  onStream?: (reply: Reply) => void
}

const STREAM_HEADERS = {
  ...ANSWER_HEADERS,
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

export function createReply(
  first: ServerResponse,
  { clock, firstSigns, stream, primes, onStream }: ReplyOptions,
): Reply {
  let response = first
  let streams = false
  let isOver = false
  let count = 0
  const kept = createKeptEvents(MOST_KEPT)

  const beginStream = () => {
    response.writeHead(200, STREAM_HEADERS)
    if (streams) return
    streams = true
    if (stream === undefined) return
    onStream?.(reply)
    if (primes) response.write(`id: ${stream}~0\ndata: \n\n`)
  }
  const giveSign = () => {
    if (!streams) beginStream()
    response.write(': still at work\n\n')
    cancelSign = clock.after(NEXT_SIGN_MS, giveSign)
  }
  let cancelSign = firstSigns.set(giveSign)
  const watch = (watched: ServerResponse) => watched.on('close', () => watched === response && cancelSign())
  const write = (json: string) => {
    const data = `event: message\ndata: ${json}\n\n`
    if (stream === undefined) return void response.write(data)
    const id = `${stream}~${++count}`
    const text = `id: ${id}\n${data}`
    kept.add({ id, text })
    onStream?.(reply)
    response.write(text)
  }
  const reply: Reply = {
    get kept() {
      return kept.characters
    },
    send(message) {
      if (isOver) return
      const json = JSON.stringify(message)
      if (!streams) beginStream()
      write(json)
    },
    end(message, status = 200) {
      if (isOver) return
      // A message that cannot be written leaves room for the answer that says so.
      const json = message && JSON.stringify(message)
      isOver = true
      cancelSign()
      if (json === undefined || streams) {
        if (!streams) beginStream()
        if (json !== undefined) write(json)
        response.end()
        return
      }
      response.writeHead(status, toJsonHeaders(json)).end(json)
    },
    resume(next, lastEventId) {
      // The connection before may look open for long after its client lost it.
      response.end()
      response = next
      beginStream()
      // Where nothing was missed there is nothing to send yet, and its client waits for an answer.
      next.flushHeaders()
      const missed = kept.all.slice(kept.all.findIndex(({ id }) => id === lastEventId) + 1)
      for (const { text } of missed) next.write(text)
      if (isOver) return void next.end()
      cancelSign()
      cancelSign = clock.after(NEXT_SIGN_MS, giveSign)
      watch(next)
    },
  }
  watch(first)
  return reply
}

function toJsonHeaders(json: string) {
  return {
    ...ANSWER_HEADERS,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
  }
}
