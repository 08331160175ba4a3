import { type ForwardOptions, isObject, type JsonObject } from '../core/forwarding.ts'
import { ELICITATION, quoteQuestion } from '../core/server-question.ts'
import { wantsInput } from './rounds.ts'

/** Returns options whose asker is told which server asks, and is asked for no secret. */
export function quoteAsked(server: string, options: ForwardOptions): ForwardOptions {
  const { asker } = options
  if (!asker) return options
  const ask: typeof asker.ask = async (method, params, signal) =>
    asker.ask(method, quote(server, method, params), signal)
  return { ...options, asker: { ...asker, ask } }
}

/** Does the same for a result that asks for input, for a caller that repeats its requests itself. */
export function quoteInput<Result extends object>(server: string, result: Result): Result {
  if (!wantsInput(result) || !isObject(result.inputRequests)) return result
  const asked = Object.entries(result.inputRequests).map(([key, request]) => {
    if (!isObject(request) || !isObject(request['params'])) return [key, request]
    return [key, { ...request, params: quote(server, request['method'], request['params']) }]
  })
  return { ...result, inputRequests: Object.fromEntries(asked) }
}

function quote(server: string, method: unknown, params: JsonObject): JsonObject {
  return method === ELICITATION ? quoteQuestion(server, params) : params
}
