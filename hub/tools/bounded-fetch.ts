import type { FetchLike } from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../core/clock.ts'
import { createFloodMeter, FLOOD_PAUSE_MS, LONGEST_MESSAGE, tooLong } from './bounds.ts'
import { createEventMeter } from './event-meter.ts'

/** The most of an error's page that is read. */
const LONGEST_ERROR = 64 * 1024
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/**
 * `fetch` for servers that may send anything: an answer over the longest message is an error, and `onOverlong` is
 * called where a stream of events brings one. A flood of events is read slowly.
 */
export function createBoundedFetch(clock: Clock, onOverlong: () => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status } = response
    if (!body || NO_BODY.has(status) || (status >= 300 && status < 400)) return response
    if (!response.ok) return copy(response, await readSome(body, LONGEST_ERROR))
    if (response.headers.get('content-type')?.startsWith('text/event-stream'))
      return copy(response, boundStream(body, clock, onOverlong))
    const whole = await readSome(body, LONGEST_MESSAGE + 1)
    if (whole.length > LONGEST_MESSAGE) throw tooLong()
    return copy(response, whole)
  }
}

function copy(
  { status, statusText, headers }: Response,
  body: Uint8Array<ArrayBuffer> | ReadableStream,
): Response {
  return new Response(body, { status, statusText, headers })
}

/** At most so many bytes; the rest is not read. */
async function readSome(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  // Leaving the loop cancels the stream.
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size >= most) break
  }
  return Buffer.concat(parts, Math.min(size, most))
}

function boundStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  clock: Clock,
  onOverlong: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const events = createEventMeter()
  const isFlood = createFloodMeter(clock)
  let left = false
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (left) return
        if (done) return controller.close()
        const count = events.add(value)
        controller.enqueue(value)
        if (events.pending > LONGEST_MESSAGE) {
          controller.close()
          onOverlong()
          return reader.cancel()
        }
        if (isFlood(count)) await sleep(clock, FLOOD_PAUSE_MS)
      },
      cancel(reason) {
        left = true
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
