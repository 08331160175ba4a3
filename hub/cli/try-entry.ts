import type { ModelConfig } from '../config/models.ts'
import { systemClock, systemTimezone, timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { NO_QUIRKS, openModel } from '../model/create-model.ts'
import { type ModelFinding, tryModel } from '../model/try-model.ts'
import { estimateTokens } from '../runtime/tokens.ts'
import type { AgentRequest } from './agent-request.ts'
import { lookUpEntry } from './configured-models.ts'

/** A model at home may first have to be loaded, and reads a long prompt slowly. */
const TIMEOUT = 5 * 60_000

/** Tries a model with an agent's request. What it cannot do is a finding; it never throws for that. */
export async function tryEntry(entry: ModelConfig, { system, tools }: AgentRequest): Promise<ModelFinding[]> {
  const { sizes, reported, server } = await lookUpEntry(entry)
  const { context, maxOutput, price, vision } = sizes
  const deadline = timeoutSignal(systemClock, TIMEOUT, 'The model')
  try {
    const filled = { ...entry, context, maxOutput, price, vision }
    const model = await openModel(filled, { clock: systemClock, quirks: NO_QUIRKS })
    return await tryModel(model, {
      system,
      tools,
      reported,
      server,
      timezone: systemTimezone(),
      estimate: estimateTokens,
      clock: systemClock,
      signal: deadline.signal,
    })
  } catch (error) {
    return [{ level: 'problem', what: describeError(error) }]
  } finally {
    deadline.cancel()
  }
}
