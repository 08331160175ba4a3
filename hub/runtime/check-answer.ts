import { readAnswer } from '../core/answer-schema.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { hasPending } from '../store/tasks.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle } from './active-cycle.ts'
import { type BatchMessage, isOnRepair, toRepair } from './batch.ts'
import { schemaOf } from './reply.ts'

/** The result of a final text that must be JSON, or why it has none. Empty if no JSON is wanted. */
export interface Checked {
  result?: JsonObject
  problem?: string
}

/** Returns the schema that the final text of the cycle must fit. */
function schemaFor({ agent, items }: ActiveCycle): JsonObject | undefined {
  return agent.task ? agent.task.schema : items.map(schemaOf).find(schema => schema !== undefined)
}

export function checkText(cycle: ActiveCycle, text: string): Checked {
  const schema = schemaFor(cycle)
  if (!schema) return {}
  const answer = readAnswer(schema, text)
  return answer.kind === 'fits' ? { result: answer.value } : { problem: answer.problem }
}

/**
 * Checks the text with which a cycle is about to end. `repair` asks for the answer once more, at most once in
 * a cycle, if a step is left and the model can write. A task with something pending has no result yet.
 */
export async function checkFinalText(
  tx: Tx,
  cycle: ActiveCycle,
  text: string,
): Promise<Checked & { repair?: BatchMessage }> {
  const schema = schemaFor(cycle)
  if (!schema || (cycle.agent.task && (await hasPending(tx, cycle.thread)))) return {}
  const checked = checkText(cycle, text)
  const mayRepair =
    cycle.steps + 1 < cycle.agent.limits.steps &&
    cycle.model().canSummarize !== false &&
    !isOnRepair(cycle.window)
  return checked.problem !== undefined && mayRepair ? { repair: toRepair(schema, checked.problem) } : checked
}

/** Returns the data that the agent's message carries for programs. */
export function toAnswerData({ result, problem }: Checked): Record<string, unknown> | undefined {
  if (result) return { structured: result }
  return problem === undefined
    ? undefined
    : { structuredError: `The answer does not fit the schema: ${problem}` }
}
