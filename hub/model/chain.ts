import { describeError } from '../core/errors.ts'
import { withoutNul } from '../core/json.ts'
import {
  type Model,
  ModelError,
  type ModelHealth,
  type ModelOptions,
  type ProviderHealth,
} from '../core/model.ts'
import { toSentence } from '../core/text.ts'
import { toShownUrl } from './ask-json.ts'
import { Circuit } from './circuit.ts'

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
  const { now, onAnswers, circuits = new Map<string, Circuit>() } = options
  const links: Guarded[] = [first, ...others].map(link => {
    const key = `${link.baseUrl} ${link.model.name}`
    const circuit = circuits.get(key) ?? new Circuit(now)
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
    sees: first.model.sees ?? true,
    health: createHealth(links, failedBy),
    async complete(request, { onText, onCut, ...options }) {
      const asked: ModelOptions = {
        ...options,
        onText: text => onText(withoutNul(text)),
        ...(onCut ? { onCut: begun => onCut(withoutNul(begun)) } : {}),
      }
      let refused: ModelError | undefined
      let isDown = false
      const succeed = ({ circuit, model, onAnswer }: Guarded) => {
        if (circuit.succeed()) onAnswers(model.name)
        onAnswer?.()
      }
      for (const link of links) {
        const { model, circuit } = link
        const pass = circuit.enter()
        isDown ||= !pass
        if (!pass) continue
        try {
          const maxOutput = Math.min(request.maxOutput, model.maxOutput)
          const reply = withoutNul(await model.complete({ ...request, maxOutput }, asked))
          succeed(link)
          if (model === first.model) return reply
          return { ...reply, by: { name: model.name, ...(model.price ? { price: model.price } : {}) } }
        } catch (error) {
          if (!(error instanceof ModelError)) {
            circuit.leave(pass)
            throw error
          }
          if (error.retryable) {
            // A failed probe leaves the provider down; after any other failure the caller decides.
            const wasProbe = circuit.fail(pass, error, error.retryAfter)
            if (!wasProbe) {
              failedBy.set(error, circuit)
              throw error
            }
            isDown = true
          } else {
            succeed(link)
            if (error.kind === 'overflow') throw error
            refused ??= error
          }
        }
      }
      throw refused && !isDown ? refused : describeDown(links)
    },
  }
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
