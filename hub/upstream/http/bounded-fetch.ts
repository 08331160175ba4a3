import type { FetchLike } from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../../core/clock.ts'
import { FLOOD_PAUSE_MS, LONGEST_MESSAGE, tooLong } from '../bounds.ts'
import { EventCutter } from './event-cutter.ts'
import { HeldBytes } from './held-bytes.ts'

/** The most bytes of an error response's body that are read. */
const LONGEST_ERROR = 64 * 1024
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/**
 * Creates a `fetch` for servers that may send anything: it throws for a response over LONGEST_MESSAGE, calls
 * `onOverlong` if an event stream brings a longer message, and reads a flood of events slowly.
 */
export function createBoundedFetch(clock: Clock, onOverlong: () => void, send: FetchLike = fetch): FetchLike {
  return async (url, init) => {
    const response = await send(url, init)
    const { body, ok, headers } = response
    const isStream = ok && headers.get('content-type')?.startsWith('text/event-stream')
    return body && isStream ? copy(response, boundStream(body, clock, onOverlong)) : readWhole(response)
  }
}

/** Returns a response whose body was read, of an error only the beginning. Throws for one over LONGEST_MESSAGE. */
export async function readWhole(response: Response): Promise<Response> {
  const { body, status, ok } = response
  if (!body || NO_BODY.has(status)) return response
  if (!ok) return copy(response, await readSome(body, LONGEST_ERROR))
  const whole = await readSome(body, LONGEST_MESSAGE + 1)
  if (whole.length > LONGEST_MESSAGE) throw tooLong()
  return copy(response, whole)
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

function boundStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  clock: Clock,
  onOverlong: () => void,
): ReadableStream<Uint8Array> {
  const events = new EventCutter(clock)
  const cutter = new TransformStream<Uint8Array, Uint8Array>({
    async transform(part, controller) {
      try {
        const whole = events.take(part)
        if (whole) controller.enqueue(whole)
      } catch {
        onOverlong()
        // Ends the stream, and cancels the body.
        controller.terminate()
      }
      if (events.isFlood) await sleep(clock, FLOOD_PAUSE_MS)
    },
    flush: controller => controller.enqueue(events.rest()),
  })
  return body.pipeThrough(cutter)
}
