import { readAnswer } from '../core/answer-schema.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { hasPending } from '../store/tasks.ts'
import type { Tx } from '../store/writer.ts'
import { type BatchMessage, isOnRepair, toRepair } from './batch.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { schemaOf } from './reply.ts'

/** The result of a final text that must be JSON, or why it has none. Empty if no JSON is wanted. */
export interface Checked {
  result?: JsonObject
  problem?: string
}

/** Returns the schema that the final text of the cycle must fit. */
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
 * Checks the text with which a cycle is about to end. `repair` asks for the answer once more, at most once in
 * a cycle, if a step is left and the model can write. A task with something pending has no result yet.
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

/** Returns the data that the agent's message carries for programs. */
export function toAnswerData({ result, problem }: Checked): { data?: Record<string, unknown> } {
  if (result) return { data: { structured: result } }
  return problem === undefined
    ? {}
    : { data: { structuredError: `The answer does not fit the schema: ${problem}` } }
}
