import {
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelOptions,
  type ModelReply,
  type ModelRequest,
  type Price,
} from '../../hub/core/model.ts'
import { createRecord } from './until.ts'

/** What a scripted model does with one request. It may read the request, wait, stream, and throw. */
export type Turn = (request: ModelRequest, options: ModelOptions) => ModelReply | Promise<ModelReply>

/** A model that does what a test told it, one turn for each request, and fails the test when it is asked for more. */
export interface ScriptedModel extends Model {
  /** Every request, as it was when it came. */
  readonly requests: ReturnType<typeof createRecord<ModelRequest>>
  /** Adds turns to the end of the script. */
  script(...turns: readonly Turn[]): void
  /** Turns that were not taken yet. */
  readonly left: number
}

export function createScriptedModel(
  turns: readonly Turn[] = [],
  limits: { context?: number; maxOutput?: number; price?: Price } = {},
): ScriptedModel {
  const script = [...turns]
  const requests = createRecord<ModelRequest>()
  return {
    name: 'scripted',
    context: limits.context ?? 32_768,
    maxOutput: limits.maxOutput ?? 1024,
    price: limits.price,
    requests,
    script: (...more) => void script.push(...more),
    get left() {
      return script.length
    },
    async complete(request, options) {
      options.signal.throwIfAborted()
      const turn = script.shift()
      requests.add(structuredClone(request))
      if (!turn) throw new Error('The script has no turn for this request')
      return turn(request, options)
    },
  }
}

const plain = { usage: { input: 10, output: 5, cachedInput: 0 }, truncated: false }

/** Says this, streamed in two pieces, and calls nothing. */
export function say(text: string): Turn {
  return (_request, { onText }) => {
    const half = Math.ceil(text.length / 2)
    for (const piece of [text.slice(0, half), text.slice(half)]) if (piece) onText(piece)
    return { ...plain, text, calls: [] }
  }
}

let calls = 0

/** Calls tools, each given as its name and its arguments (a text goes as it is), with a text beside them. */
export function call(asked: readonly (readonly [name: string, args?: unknown])[], text = ''): Turn {
  return () => ({
    ...plain,
    text,
    calls: asked.map(([name, args = {}]) => ({
      id: `call_${++calls}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    })),
  })
}

/** Fails as a provider does. */
export function refuse(kind: ModelErrorKind, retryAfter?: number): Turn {
  return () => {
    throw new ModelError(kind, `The provider says ${kind}.`, { retryAfter })
  }
}

/** Waits for `release` (or the abort of the request) before it goes on with another turn. */
export function hold(turn: Turn) {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const held: Turn = async (request, options) => {
    const onAbort = () => gate.reject(options.signal.reason)
    options.signal.addEventListener('abort', onAbort, { once: true })
    begun.resolve()
    await gate.promise
    options.signal.removeEventListener('abort', onAbort)
    return turn(request, options)
  }
  return { turn: held, begun: begun.promise, release: () => gate.resolve() }
}
