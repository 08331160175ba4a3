import { readAnswer } from '../core/answer-schema.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { hasPending } from '../store/tasks.ts'
import type { Tx } from '../store/writer.ts'
import { type BatchMessage, isOnRepair, toRepair } from './batch.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { schemaOf } from './reply.ts'

/** What a cycle's final text gave where JSON is wanted: the result, or why there is none. Empty where none is wanted. */
export interface Checked {
  result?: JsonObject
  problem?: string
}

/** The schema that the final text of the cycle must fit. */
function schemaFor({ agent, items }: Claim): JsonObject | undefined {
  return agent.task ? agent.task.schema : items.map(schemaOf).find(schema => schema !== undefined)
}

export function checkText(claim: Claim, text: string): Checked {
  const schema = schemaFor(claim)
  if (!schema) return {}
  const answer = readAnswer(schema, text)
  return answer.kind === 'fits' ? { result: answer.value } : { problem: answer.problem }
}

/**
 * Checks the text with which a cycle is about to end. `repair` asks for it once more, once in a cycle, where a step is
 * left and a model that writes. A task that something is still to happen in has no result yet.
 */
export async function checkFinalText(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  { text, step }: { text: string; step: number },
): Promise<Checked & { repair?: BatchMessage }> {
  const schema = schemaFor(claim)
  if (!schema || (claim.agent.task && (await hasPending(tx, claim.thread)))) return {}
  const checked = checkText(claim, text)
  const { model, limits } = claim.agent
  const mayRepair =
    step < limits.steps && deps.model(model).canSummarize !== false && !isOnRepair(claim.window)
  return checked.problem !== undefined && mayRepair ? { repair: toRepair(schema, checked.problem) } : checked
}

/** What the agent's message carries for programs. */
export function toAnswerData({ result, problem }: Checked): { data?: Record<string, unknown> } {
  if (result) return { data: { structured: result } }
  return problem === undefined
    ? {}
    : { data: { structuredError: `The answer does not fit the schema: ${problem}` } }
}
