import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import { type ForwardOptions, isObject, type JsonObject, type Requester } from '../core/forwarding.ts'
import { ELICITATION, quoteQuestion } from '../core/server-question.ts'

/**
 * Maps each method by which a server may ask a client to the capability that the client has to declare for
 * it. In 2026-07-28 a server asks in a result (`input_required`), before that by a request.
 */
export const QUESTIONS: ReadonlyMap<unknown, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  [ELICITATION, 'elicitation'],
  ['roots/list', 'roots'],
])
/** The most times that a server may ask for input during one request. */
const MOST_ROUNDS = 10

/**
 * Asks a client what it declared that it can be asked; a client without roots has none. Throws
 * MissingRequiredClientCapability for anything else.
 */
export async function askRequester(
  requester: Requester | undefined,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const capability = QUESTIONS.get(method)
  if (capability === undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `The server asks for ${method}, for which no client is asked`,
    )
  if (requester && isDeclared(requester, method)) return requester.ask(method, params, signal)
  if (method === 'roots/list') return { roots: [] }
  const text = `Whoever calls did not declare ${capability}, which the server asks for`
  throw ProtocolError.fromError(ProtocolErrorCode.MissingRequiredClientCapability, text, {
    requiredCapabilities: { [capability]: {} },
  })
}

/** Tells whether a client declared that it can be asked by a method. */
export function isDeclared({ capabilities }: Requester, method: string): boolean {
  return capabilities[QUESTIONS.get(method) ?? ''] !== undefined
}

/**
 * Sends a request until its result is complete: the caller is asked for what the server wants in between. A
 * caller that repeats its requests itself gets a result that asks for input. Either way the caller is told
 * which server asks, and is asked for no secret.
 */
export async function untilComplete<Result extends object>(
  server: string,
  given: ForwardOptions,
  send: (repeat: JsonObject | undefined, options: ForwardOptions) => Promise<Result>,
): Promise<Result> {
  const options = quoteAsked(server, given)
  const { requester, signal = new AbortController().signal } = options
  const sendQuoted: typeof send = (repeat, sent) =>
    send(repeat, sent).catch(error => Promise.reject(quoteRequired(server, error)))
  let result = await sendQuoted(options.repeat, options)
  if (requester?.repeats) return quoteInput(server, result)
  for (let round = 0; wantsInput(result); round++) {
    if (!requester)
      throw new HubError('bad_request', 'The server asks for input, and nobody is there to give it')
    if (round === MOST_ROUNDS)
      throw new HubError('unavailable', `The server asked for input ${MOST_ROUNDS} times over`)
    const { inputRequests, requestState } = result
    const answers = Object.entries(isObject(inputRequests) ? inputRequests : {}).map(
      async ([key, request]) => {
        if (!isObject(request) || typeof request['method'] !== 'string')
          throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `The server asks for nothing with ${key}`)
        const params = isObject(request['params']) ? request['params'] : {}
        return [key, await askRequester(requester, request['method'], params, signal)] as const
      },
    )
    const inputResponses = Object.fromEntries(await Promise.all(answers))
    result = await sendQuoted(
      { inputResponses, ...(requestState === undefined ? {} : { requestState }) },
      options,
    )
  }
  return result
}

/** Returns options whose requester is told which server asks, and is asked for no secret. */
export function quoteAsked(server: string, options: ForwardOptions): ForwardOptions {
  const { requester } = options
  if (!requester) return options
  const ask: Requester['ask'] = async (method, params, signal) =>
    requester.ask(method, quote(server, method, params), signal)
  return { ...options, requester: { ...requester, ask } }
}

function quoteInput<Result extends object>(server: string, result: Result): Result {
  if (!wantsInput(result) || !isObject(result.inputRequests)) return result
  const asked = Object.entries(result.inputRequests).map(([key, request]) => {
    if (!isObject(request) || !isObject(request['params'])) return [key, request]
    return [key, { ...request, params: quote(server, request['method'], request['params']) }]
  })
  return { ...result, inputRequests: Object.fromEntries(asked) }
}

/** Returns an error that names pages to open first as people may see it; any other error as it is. */
function quoteRequired(server: string, error: unknown): unknown {
  if (!(error instanceof ProtocolError) || error.code !== ProtocolErrorCode.UrlElicitationRequired)
    return error
  const { elicitations } = isObject(error.data) ? error.data : {}
  const pages = (Array.isArray(elicitations) ? elicitations : []).filter(isObject)
  try {
    const quoted = pages.map(page => quoteQuestion(server, { ...page, mode: 'url' }))
    return ProtocolError.fromError(error.code, error.message, { elicitations: quoted })
  } catch (refused) {
    return refused
  }
}

function quote(server: string, method: unknown, params: JsonObject): JsonObject {
  return method === ELICITATION ? quoteQuestion(server, params) : params
}

function wantsInput(result: object): result is { inputRequests?: unknown; requestState?: unknown } {
  return 'resultType' in result && result.resultType === 'input_required'
}

/** A request in flight that a server's question may belong to. */
interface Askable {
  options: ForwardOptions
}

interface Candidates<Request extends Askable> {
  /** The requests that have somebody to ask, the newest at the end. */
  inFlight: readonly Request[]
  /** The requests that wait for an answer to a question, the one asked last at the end. */
  waiting: readonly Request[]
  /** The principals of cancelled requests that the server has not answered yet. */
  cancelled: Iterable<string>
  /** True if the server serves one session only. */
  isOwn: boolean
}

/**
 * Returns the request that a question belongs to if the transport does not tell. All requests in flight must
 * be of one principal, since a question that reached another one would disclose what is none of its business.
 * Throws if there may be several; returns undefined for roots then, and if nobody can be asked.
 */
export function decideAsked<Request extends Askable>(
  method: string,
  { inFlight, waiting, cancelled, isOwn }: Candidates<Request>,
): Request | undefined {
  const principals = new Set([...inFlight.map(({ options }) => options.requester?.key), ...cancelled])
  let candidates = inFlight.slice(-1)
  if (inFlight.some(one => isAmbiguous(one, isOwn))) {
    // These are the requests that do not wait for an answer yet or, if all wait, the one asked last.
    const free = inFlight.filter(one => !waiting.includes(one))
    candidates = free.length > 0 ? free : waiting.filter(one => inFlight.includes(one)).slice(-1)
  }
  if (principals.size <= 1 && candidates.length <= 1) return candidates[0]
  if (method === 'roots/list') return undefined
  throw new ProtocolError(
    ProtocolErrorCode.InternalError,
    'Several calls at once may be of different parties, and this server does not say which of them it asks. Set isolated: true in its entry to give each party its own process.',
  )
}

/**
 * Tells whether equal keys may be two clients: those that repeat their requests have no session, and two with
 * the same name cannot be told apart.
 */
export function isAmbiguous({ options: { requester } }: Askable, isOwn: boolean): boolean {
  return requester?.repeats === true && !isOwn
}
