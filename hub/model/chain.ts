import { describeError } from '../core/errors.ts'
import {
  type Model,
  ModelError,
  type ModelHealth,
  type ModelOptions,
  type ModelReply,
  type ModelRequest,
  type ProviderHealth,
} from '../core/model.ts'
import { toSentence } from '../core/text.ts'
import { toShownUrl } from './ask-json.ts'
import { type Circuit, createCircuit, type Pass } from './circuit.ts'

export interface ChainLink {
  model: Model
  baseUrl?: string | undefined
  /** Called when the link's provider answers a request, even if it refuses it. */
  onAnswer?: () => void
}

export interface ChainOptions {
  now: () => number
  /** Called when a provider that was down answers. */
  onAnswers: (name: string) => void
  /** Circuits by address and model, shared with other chains that ask the same providers. */
  circuits?: Map<string, Circuit>
}

interface Guarded extends ChainLink {
  circuit: Circuit
}

/**
 * Returns a model that asks its links in order: the next one when the one before fails for good (its error
 * cannot pass, or its circuit is open). Throws `unavailable` when every circuit is open. Its sizes are the
 * first link's.
 */
export function createChain(
  [first, ...others]: readonly [ChainLink, ...ChainLink[]],
  options: ChainOptions,
): Model & { health: ModelHealth } {
  const { now, circuits = new Map<string, Circuit>() } = options
  const links: Guarded[] = [first, ...others].map(link => {
    const key = `${link.baseUrl} ${link.model.name}`
    const circuit = circuits.get(key) ?? createCircuit(now)
    circuits.set(key, circuit)
    return { ...link, circuit }
  })
  const failedBy = new WeakMap<Error, Circuit>()
  return {
    name: first.model.name,
    context: first.model.context,
    maxOutput: first.model.maxOutput,
    ...(first.model.price ? { price: first.model.price } : {}),
    canSummarize: first.model.canSummarize ?? true,
    health: createHealth(links, failedBy),
    async complete(request, asked) {
      let refused: ModelError | undefined
      let isDown = false
      for (const link of links) {
        const pass = link.circuit.enter()
        if (!pass) {
          isDown = true
          continue
        }
        const outcome = await ask({ ...link, pass }, request, asked, options)
        if ('reply' in outcome)
          return link.model === first.model ? outcome.reply : signed(outcome.reply, link)
        if (outcome.next === 'throw') {
          failedBy.set(outcome.error, link.circuit)
          throw outcome.error
        }
        isDown ||= outcome.next === 'down'
        if (outcome.next === 'refused') refused ??= outcome.error
      }
      throw refused && !isDown ? refused : describeDown(links)
    },
  }
}

type Outcome =
  | { reply: ModelReply }
  /** `throw`: the caller decides. `refused`: a repeat does not help. `down`: the probe failed. */
  | { error: ModelError; next: 'throw' | 'refused' | 'down' }

async function ask(
  { model, circuit, pass, onAnswer }: Guarded & { pass: Pass },
  request: ModelRequest,
  asked: ModelOptions,
  options: ChainOptions,
): Promise<Outcome> {
  const succeed = () => {
    if (circuit.succeed()) options.onAnswers(model.name)
    onAnswer?.()
  }
  try {
    const maxOutput = Math.min(request.maxOutput, model.maxOutput)
    const reply = await model.complete({ ...request, maxOutput }, asked)
    succeed()
    return { reply }
  } catch (error) {
    if (!(error instanceof ModelError)) {
      circuit.leave(pass)
      throw error
    }
    if (error.retryable) {
      return { error, next: circuit.fail(pass, error, error.retryAfter) ? 'down' : 'throw' }
    }
    succeed()
    return { error, next: error.kind === 'overflow' ? 'throw' : 'refused' }
  }
}

function signed(reply: ModelReply, { model }: Guarded): ModelReply {
  return { ...reply, by: { name: model.name, ...(model.price ? { price: model.price } : {}) } }
}

function describeDown(links: readonly Guarded[]): ModelError {
  const causes = [
    ...new Set(links.flatMap(({ circuit }) => (circuit.error ? [describeError(circuit.error)] : []))),
  ]
  const why = causes.map(toSentence).join(' ')
  return new ModelError('unavailable', why || 'No model can be asked just now.')
}

function createHealth(links: readonly Guarded[], failedBy: WeakMap<Error, Circuit>): ModelHealth {
  const retryAt = () => {
    const times = links.map(({ circuit }) => circuit.retryAt)
    return times.includes(undefined) ? undefined : Math.min(...times.map(at => at ?? 0))
  }
  return {
    retryAt,
    giveUp(error) {
      if (!(error instanceof ModelError && error.retryable)) return false
      failedBy.get(error)?.open(error, error.retryAfter)
      return failedBy.has(error) && retryAt() === undefined
    },
    reset() {
      for (const { circuit } of links) circuit.close()
    },
    providers: () => links.map(toHealth),
    quirks: () => links.flatMap(({ model }) => model.quirks?.() ?? []),
  }
}

function toHealth({ model, baseUrl, circuit }: Guarded): ProviderHealth {
  const { state, retryAt, error } = circuit
  return {
    name: model.name,
    ...(baseUrl === undefined ? {} : { baseUrl: toShownUrl(baseUrl) }),
    state,
    ...(retryAt === undefined || state === 'ok' ? {} : { retryAt }),
    ...(error === undefined ? {} : { error: describeError(error) }),
  }
}
