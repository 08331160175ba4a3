import { systemClock, systemTimezone, timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { type ModelFinding, tryModel } from '../model/try-model.ts'
import { estimateTokens } from '../runtime/tokens.ts'
import type { AgentRequest } from './agent-request.ts'
import { lookUpEntry, type WrittenModel } from './configured-models.ts'

/** A model at home may first have to be loaded, and reads a long prompt slowly. */
const TIMEOUT = 5 * 60_000

/** Tries a model with an agent's request. What it cannot do is a finding; it never throws for that. */
export async function tryEntry(
  entry: WrittenModel,
  { system, tools }: AgentRequest,
): Promise<ModelFinding[]> {
  const { createOpenAiModel } = await import('../model/openai/openai-model.ts')
  const { sizes, reported, server } = await lookUpEntry(entry)
  const { context, maxOutput } = sizes
  const deadline = timeoutSignal(systemClock, TIMEOUT, 'The model')
  try {
    const model = createOpenAiModel({ ...entry, context, maxOutput, clock: systemClock })
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
