import type { ModelFinding } from '../../schemas/model-choice.ts'
import { timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { Model, ModelConfig } from '../core/model.ts'
import { NO_QUIRKS, openModel } from './create-model.ts'
import { type LookedUpModel, lookUp } from './sizes.ts'
import { type TrialOptions, tryModel } from './try-model.ts'

/** The prompt and tools with which every request of an agent begins. */
export type TrialRequest = Pick<TrialOptions, 'system' | 'tools' | 'timezone' | 'estimate' | 'clock'>

/** Milliseconds for an answer: a model at home may have to be loaded first, and reads long prompts slowly. */
const TIMEOUT = 5 * 60_000

/**
 * Tries a model with an agent's request as it is; where the provider refuses that, with the changes that a
 * hub would make. Reports what the model cannot do as findings; it never throws for that.
 */
export async function tryEntry(entry: ModelConfig, request: TrialRequest): Promise<ModelFinding[]> {
  const known = await lookUp({ ...entry, clock: request.clock })
  const { context, maxOutput, price, vision } = known.sizes
  const filled = { ...entry, context, maxOutput, price, vision }
  const options = { clock: request.clock, quirks: NO_QUIRKS }
  const plain = await run(await openModel(filled, { ...options, mostRepairs: 0 }), request, known)
  const sight: ModelFinding = {
    level: 'ok',
    what: vision
      ? 'sees pictures'
      : 'reads only the names of pictures: if it sees them, tick “It sees pictures” on the page, or write vision: true beside it in superbloom.yaml',
  }
  if (!hasProblem(plain)) return [...plain, sight]
  const model = await openModel(filled, options)
  const repaired = await run(model, request, known)
  const quirks = model.quirks?.() ?? []
  const leftOut = new Set(quirks.flatMap(({ tools = [] }) => tools))
  // A model that takes few of the tools is of no use for an agent.
  if (quirks.length === 0 || hasProblem(repaired) || leftOut.size * 2 > request.tools.length) return plain
  const changes = quirks.map(
    ({ what }): ModelFinding => ({ level: 'warning', what: `${what} (the hub sees to it)` }),
  )
  return [...changes, ...repaired, sight]
}

function hasProblem(findings: readonly ModelFinding[]): boolean {
  return findings.some(({ level }) => level === 'problem')
}

async function run(
  model: Model,
  { system, tools, timezone, estimate, clock }: TrialRequest,
  { reported, server }: LookedUpModel,
): Promise<ModelFinding[]> {
  const deadline = timeoutSignal(clock, TIMEOUT, 'The model')
  try {
    return await tryModel(model, {
      system,
      tools,
      reported,
      server,
      timezone,
      estimate,
      clock,
      signal: deadline.signal,
    })
  } catch (error) {
    return [{ level: 'problem', what: describeError(error) }]
  } finally {
    deadline.cancel()
  }
}
