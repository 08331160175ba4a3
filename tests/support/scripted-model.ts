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

/** A scripted model's handling of one request. It may read the request, wait, stream, and throw. */
export type Turn = (request: ModelRequest, options: ModelOptions) => ModelReply | Promise<ModelReply>

/** A model that plays a test's turns, one for each request, and fails the test after the last. */
export interface ScriptedModel extends Model {
  /** Every request, in its state at arrival. */
  readonly requests: ReturnType<typeof createRecord<ModelRequest>>
  /** Adds turns to the end of the script. */
  script(...turns: readonly Turn[]): void
  /** Number of unused turns. */
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

/** Returns a turn that streams the text in two pieces, and calls no tool. */
export function say(text: string): Turn {
  return (_request, { onText }) => {
    const half = Math.ceil(text.length / 2)
    for (const piece of [text.slice(0, half), text.slice(half)]) if (piece) onText(piece)
    return { ...plain, text, calls: [] }
  }
}

let calls = 0

/**
 * Returns a turn that calls tools, each given as its name and its arguments (a string is sent unchanged),
 * with a text beside them.
 */
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

/** Returns a turn that fails as a provider does. */
export function refuse(kind: ModelErrorKind, retryAfter?: number): Turn {
  return () => {
    throw new ModelError(kind, `The provider says ${kind}.`, { retryAfter })
  }
}

/** Returns a turn that waits for `release` (or the request's abort) before it runs another turn. */
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
