import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import { type Asker, type ForwardOptions, isObject, type JsonObject } from '../core/forwarding.ts'
import { ASKED } from './asked.ts'
import { lacks } from './wire-errors.ts'

/** The most times that a server may ask for input during one request. */
const MOST_ROUNDS = 10

/**
 * Sends a request until its result is complete: the caller is asked for what the server wants in between
 * (`input_required` of 2026-07-28). A caller that repeats its requests itself gets such a result as it is.
 */
export async function untilComplete<Result extends object>(
  send: (repeat: JsonObject | undefined) => Promise<Result>,
  { asker, repeat, signal }: ForwardOptions,
): Promise<Result> {
  let result = await send(repeat)
  if (asker?.repeats) return result
  for (let round = 0; wantsInput(result); round++) {
    if (!asker) throw new HubError('bad_request', 'The server asks for input, and nobody is there to give it')
    if (round === MOST_ROUNDS)
      throw new HubError('unavailable', `The server asked for input ${MOST_ROUNDS} times over`)
    const { inputRequests, requestState } = result
    const asked = Object.entries(isObject(inputRequests) ? inputRequests : {})
    const signalOrNone = signal ?? new AbortController().signal
    const answers = asked.map(async ([key, request]) => {
      if (!isObject(request) || typeof request['method'] !== 'string')
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `The server asks for nothing with ${key}`)
      const params = isObject(request['params']) ? request['params'] : {}
      return [key, await ask(asker, request['method'], params, signalOrNone)] as const
    })
    result = await send({
      inputResponses: Object.fromEntries(await Promise.all(answers)),
      ...(requestState === undefined ? {} : { requestState }),
    })
  }
  return result
}

/** Asks a client only what clients can be asked and this one declared; a client without roots has none. */
async function ask(
  asker: Asker,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const capability = ASKED.get(method)
  if (capability === undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `The server asks for ${method}, for which no client is asked`,
    )
  if (asker.capabilities[capability] !== undefined) return asker.ask(method, params, signal)
  if (method === 'roots/list') return { roots: [] }
  throw lacks(capability)
}

export function wantsInput(result: object): result is { inputRequests?: unknown; requestState?: unknown } {
  return 'resultType' in result && result.resultType === 'input_required'
}
