import type { Clock } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import { ModelError } from '../../core/model.ts'
import { toSpan } from '../../core/text.ts'
import {
  brokenStream,
  describeProvider,
  errorIn,
  nameAddress,
  type Provider,
  type Refusal,
  toModelError,
  toRefusal,
} from '../openai/provider-error.ts'
import { findCoded, toAnswerError, toNetworkError, toUnsentError } from './answer-error.ts'
import { createCallWatch } from './call-watch.ts'

export interface WireOptions {
  provider: Provider
  clock: Clock
  /** Signal of the caller. */
  signal: AbortSignal
  /** Milliseconds until the response has to begin. */
  timeout: number
  /** Changes the body of the request before it is sent. */
  edit?: ((body: Record<string, unknown>) => object) | undefined
  /** True where a JSON document in place of a stream of events is read as its only event. */
  takesDocument?: boolean
}

/** Most milliseconds between two pieces of a response. */
export const IDLE_TIMEOUT = 120_000
/** Milliseconds to wait for the end of a connection, so that it can be used again. */
const AFTER_DONE = 100

/**
 * One request of a provider's package, which sends it with `fetch`. It handles limits on time, refusals and
 * broken connections in the same way for every package; the package reads a response that just ends.
 */
export interface WireCall extends Disposable {
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds that the next piece of the response may take. */
  patience: number
  /** True where the package saw a mark of the end, and stopped reading before the response ended. */
  readonly isClosed: boolean
  /** Returns the error to throw for a reply that is not whole, or for what the package threw. */
  toError(thrown?: unknown): unknown
}

export function openWireCall(options: WireOptions): WireCall {
  const { provider, clock, signal, timeout, edit, takesDocument = false } = options
  const watch = createCallWatch(clock, signal)
  let failure: ModelError | undefined
  let hasAnswered = false
  const call = {
    patience: IDLE_TIMEOUT,
    isClosed: false,
    async fetch(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
      watch.within(timeout, () => slowError(provider, timeout))
      try {
        const body = edit && typeof init.body === 'string' ? editText(init.body, edit) : init.body
        const response = await fetch(input, { ...init, ...(body && { body }), signal: watch.signal })
        hasAnswered = true
        if (!response.ok) throw await toAnswerError(provider, response, clock.now())
        return toGuarded(response)
      } catch (error) {
        failure = watch.signal.aborted ? timeoutOf(watch.signal) : toNetworkError(provider, error)
        throw failure ?? error
      }
    },
    toError(thrown?: unknown): unknown {
      if (signal.aborted) return signal.reason
      if (failure) return failure
      const refusal = refusalIn(thrown)
      if (refusal) return toModelError(provider, refusal)
      if (hasAnswered) return brokenStream(provider, describeBreak(thrown))
      return toUnsentError(provider, thrown)
    },
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  }

  function toGuarded({ body, status, headers }: Response): Response {
    const type = headers.get('content-type') ?? ''
    if (type.includes('text/html')) throw webPage(provider)
    const reader = (body ?? new Blob([]).stream()).getReader()
    const read = async () => {
      const delay = call.patience
      watch.within(delay, () => idleError(provider, delay))
      try {
        return await reader.read()
      } catch (error) {
        failure = watch.signal.aborted ? timeoutOf(watch.signal) : brokenOff(provider, error)
        return { done: true, value: undefined }
      }
    }
    const isDocument = takesDocument && type.includes('application/json')
    const pieces = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = isDocument ? await readDocument(read) : await read()
          if (value) controller.enqueue(value)
          if (done) controller.close()
        },
        async cancel() {
          call.isClosed = true
          if (call.patience === IDLE_TIMEOUT) return watch[Symbol.dispose]()
          call.patience = AFTER_DONE
          while (!(await read()).done);
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(pieces, {
      status,
      headers: { 'content-type': isDocument ? 'text/event-stream' : type },
    })
  }

  return call
}

/**
 * Returns the refusal in an event that a package threw: `openai` has it in `error`, the AI SDK in `data` or a
 * body.
 */
function refusalIn(thrown: unknown): Refusal | undefined {
  if (!(thrown instanceof Error)) return undefined
  if ('error' in thrown && thrown.error !== undefined) return toRefusal(thrown.error)
  const data = 'data' in thrown ? thrown.data : undefined
  const said = data ?? ('responseBody' in thrown ? parseJson(String(thrown.responseBody)) : undefined)
  if (typeof said !== 'object' || said === null) return undefined
  return toRefusal(errorIn(said) ?? said)
}

function editText(body: string, edit: (body: Record<string, unknown>) => object): string {
  return JSON.stringify(edit(JSON.parse(body)))
}

/** Reads the whole body as one event. */
async function readDocument(
  read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>,
): Promise<{ done: true; value: Uint8Array }> {
  const pieces: Uint8Array[] = []
  for (let next = await read(); next.value; next = await read()) pieces.push(next.value)
  const text = Buffer.concat(pieces)
    .toString()
    .replace(/[\r\n]+/g, ' ')
  return { done: true, value: Buffer.from(`data: ${text}\n\n`) }
}

/** Returns the error of the wait that took too long; undefined where the caller aborted. */
function timeoutOf({ reason }: AbortSignal): ModelError | undefined {
  return reason instanceof ModelError ? reason : undefined
}

function describeBreak(thrown: unknown): string {
  if (thrown === undefined) return 'ended the reply before it was whole'
  return 'sent what cannot be read in the middle of the reply'
}

function brokenOff(provider: Provider, error: unknown): ModelError {
  const coded = findCoded(error)
  return brokenStream(provider, `broke off the reply${coded ? ` (${coded.code})` : ''}`, coded)
}

function idleError(provider: Provider, delay: number): ModelError {
  return new ModelError('network', `${describeProvider(provider)} sent nothing for ${toSpan(delay)}.`)
}

function slowError(provider: Provider, delay: number): ModelError {
  return new ModelError(
    'network',
    `${describeProvider(provider)} did not answer within ${toSpan(delay)}. Check that it runs and is not busy loading the model.`,
  )
}

function webPage(provider: Provider): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(provider)} answered with a web page. Check ${nameAddress(provider)} (most end in /v1).`,
  )
}
