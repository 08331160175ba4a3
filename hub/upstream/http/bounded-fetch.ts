import type { FetchLike } from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../../core/clock.ts'
import { createFloodMeter, FLOOD_PAUSE_MS, LONGEST_MESSAGE, tooLong } from '../bounds.ts'
import { createEventMeter } from './event-meter.ts'
import { HeldBytes } from './held-bytes.ts'

/** The most bytes of an error response's body that are read. */
const LONGEST_ERROR = 64 * 1024
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/**
 * Creates a `fetch` for servers that may send anything: it throws for a response over LONGEST_MESSAGE, calls
 * `onOverlong` if an event stream brings a longer message, and reads a flood of events slowly.
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

/** Reads at most `most` bytes; the rest is not read. */
async function readSome(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const held = new HeldBytes()
  // Leaving the loop cancels the stream.
  for await (const part of body) {
    held.append(part.subarray(0, most - held.size))
    if (held.size >= most) break
  }
  return held.take() as Buffer<ArrayBuffer>
}

/** Hands on whole events, because a reader that gets an event in small parts keeps each part. */
function boundStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  clock: Clock,
  onOverlong: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const events = createEventMeter()
  const held = new HeldBytes()
  const isFlood = createFloodMeter(clock)
  let left = false
  let isTooFast = false
  /** Reads until there is an event to hand on; returns undefined at the end and after a cancel. */
  const read = async (): Promise<Buffer | undefined> => {
    for (;;) {
      if (isTooFast) await sleep(clock, FLOOD_PAUSE_MS)
      isTooFast = false
      const { done, value } = await reader.read()
      if (left) return undefined
      if (done) return held.size > 0 ? held.take() : undefined
      const seen = events.add(value)
      held.append(value)
      if (events.pending > LONGEST_MESSAGE) {
        onOverlong()
        await reader.cancel()
        return held.take()
      }
      isTooFast = isFlood({ ...seen, bytes: value.length })
      if (seen.messages > 0) return held.take()
    }
  }
  return new ReadableStream(
    {
      async pull(controller) {
        const part = await read()
        if (left) return
        if (part) controller.enqueue(part)
        else controller.close()
      },
      cancel(reason) {
        left = true
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
