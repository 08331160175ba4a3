import type { Clock } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import { ModelError } from '../../core/model.ts'
import { toSpan } from '../../core/text.ts'
import { findCoded, toAnswerError, toNetworkError, toUnsentError } from './answer-error.ts'
import { fetchProvider } from './fetch-provider.ts'
import {
  brokenStream,
  describeProvider,
  type Endpoint,
  errorIn,
  nameAddress,
  type Refusal,
  toModelError,
  toRefusal,
} from './provider-error.ts'

interface WireOptions {
  endpoint: Endpoint
  clock: Clock
  /** Signal of the caller. */
  signal: AbortSignal
  /** Milliseconds until the response has to begin. */
  timeout: number
  /** Changes the body of the request before it is sent. */
  edit?: ((body: Record<string, unknown>) => object) | undefined
  /** True where a JSON document in place of a stream of events is read as its only event. */
  takesDocument?: boolean | undefined
}

/** Most milliseconds between two pieces of a response. */
const IDLE_TIMEOUT = 120_000
/** Milliseconds to wait for the end of a connection, so that it can be used again. */
const AFTER_DONE = 100
/** Made only once, since an abort without a reason makes an exception with a stack. */
const OVER = new Error('The call is over')

export type WireCall = ReturnType<typeof openWireCall>

/**
 * Opens one request of a provider's package, which sends it with `fetch`. It handles limits on time, refusals
 * and broken connections in the same way for every package; the package reads a response that just ends.
 * Disposing of it cuts what is still open.
 */
export function openWireCall(options: WireOptions) {
  const { endpoint, clock, signal, timeout, edit, takesDocument = false } = options
  const own = new AbortController()
  const either = AbortSignal.any([signal, own.signal])
  let cancel: (() => void) | undefined
  let failure: ModelError | undefined
  let hasAnswered = false
  /** Limits the wait that begins now; the limit replaces the one before. */
  function within(delay: number, toError: () => ModelError) {
    cancel?.()
    cancel = clock.after(delay, () => own.abort(toError()))
  }
  /** Returns the error of the wait that took too long, else of the broken connection. */
  function decideFailure(thrown: unknown, toError: (thrown: unknown) => ModelError): ModelError | undefined {
    if (!either.aborted) return toError(thrown)
    return either.reason instanceof ModelError ? either.reason : undefined
  }
  function close() {
    cancel?.()
    own.abort(OVER)
  }
  const call = {
    /** Milliseconds that the next piece of the response may take. */
    patience: IDLE_TIMEOUT,
    /** True where the package saw a mark of the end, and stopped reading before the response ended. */
    isClosed: false,
    async fetch(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
      within(timeout, () => slowError(endpoint, timeout))
      try {
        const body =
          edit && typeof init.body === 'string' ? JSON.stringify(edit(JSON.parse(init.body))) : init.body
        const address = input instanceof Request ? input.url : input
        const response = await fetchProvider(address, { ...init, ...(body && { body }), signal: either })
        hasAnswered = true
        if (!response.ok) throw await toAnswerError(endpoint, response, clock.now())
        return toGuarded(response)
      } catch (error) {
        failure = decideFailure(error, thrown => toNetworkError(endpoint, thrown))
        throw failure ?? error
      }
    },
    /** Returns the error to throw for a reply that is not whole, or for what the package threw. */
    toError(thrown?: unknown): unknown {
      if (signal.aborted) return signal.reason
      if (failure) return failure
      const refusal = refusalIn(thrown)
      if (refusal) return toModelError(endpoint, refusal)
      const how = thrown === undefined ? 'ended the reply before it was whole' : UNREADABLE
      if (hasAnswered) return brokenStream(endpoint, how)
      return toUnsentError(endpoint, thrown)
    },
    [Symbol.dispose]: close,
  }

  function toGuarded({ body, status, headers }: Response): Response {
    const type = headers.get('content-type') ?? ''
    if (type.includes('text/html')) throw webPage(endpoint)
    const reader = (body ?? new Blob([]).stream()).getReader()
    const read = async () => {
      const delay = call.patience
      within(delay, () => idleError(endpoint, delay))
      try {
        return await reader.read()
      } catch (error) {
        failure = decideFailure(error, thrown => brokenOff(endpoint, thrown))
        return { done: true, value: undefined }
      }
    }
    const isDocument = takesDocument && type.includes('application/json')
    const cancel = async () => {
      call.isClosed = true
      if (call.patience === IDLE_TIMEOUT) return close()
      call.patience = AFTER_DONE
      while (!(await read()).done);
    }
    const init = { status, headers: { 'content-type': isDocument ? 'text/event-stream' : type } }
    return new Response(toStream(isDocument ? () => readDocument(read) : read, cancel), init)
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

type Read = () => Promise<{ done: boolean; value?: Uint8Array | undefined }>

function toStream(read: Read, cancel: () => Promise<void>): ReadableStream<Uint8Array> {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await read()
    if (value) controller.enqueue(value)
    if (done) controller.close()
  }
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}

/** Reads the whole body as one event. */
async function readDocument(read: Read): Promise<{ done: true; value: Uint8Array }> {
  const pieces: Uint8Array[] = []
  for (let next = await read(); next.value; next = await read()) pieces.push(next.value)
  const text = Buffer.concat(pieces)
    .toString()
    .replace(/[\r\n]+/g, ' ')
  return { done: true, value: Buffer.from(`data: ${text}\n\n`) }
}

const UNREADABLE = 'sent what cannot be read in the middle of the reply'

function brokenOff(endpoint: Endpoint, error: unknown): ModelError {
  const coded = findCoded(error)
  return brokenStream(endpoint, `broke off the reply${coded ? ` (${coded.code})` : ''}`, coded)
}

function idleError(endpoint: Endpoint, delay: number): ModelError {
  return new ModelError('network', `${describeProvider(endpoint)} sent nothing for ${toSpan(delay)}.`)
}

function slowError(endpoint: Endpoint, delay: number): ModelError {
  return new ModelError(
    'network',
    `${describeProvider(endpoint)} did not answer within ${toSpan(delay)}. Check that it runs and is not busy loading the model.`,
  )
}

function webPage(endpoint: Endpoint): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(endpoint)} answered with a web page. Check ${nameAddress(endpoint)} (most end in /v1).`,
  )
}
