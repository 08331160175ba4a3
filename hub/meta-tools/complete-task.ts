import { z } from 'zod'
import { checkAnswer, placeSchema } from '../core/answer-schema.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import { hasFailedCall } from '../store/ledger.ts'
import { defineMetaTool, type MetaTool } from './meta-tool.ts'

const NAME = 'complete_task'
const summary = z.string().min(1).max(8000)

export function completeTask(): MetaTool {
  const tool = defineMetaTool({
    name: NAME,
    title: 'Done',
    description:
      'Says that what this cycle was about is done, with a summary for the record. Ends this cycle; put what people should read beside the call. Pending schedules stay. In a task it ends the task: the summary is its result, and its schedules are cancelled.',
    input: z.strictObject({ summary }),
    ends: true,
    async run(_tx, args) {
      return { text: `Completed: ${args.summary}`, isError: false, structured: args }
    },
  })
  return { ...tool, withResult }
}

/** Returns the tool for a task whose result must fit the schema. A second misfit ends it without one. */
function withResult(schema: JsonObject): MetaTool {
  const tool = defineMetaTool({
    name: NAME,
    title: 'Done',
    description:
      'Ends your task. `result` is what its maker asked for; the summary says in words what you did. The schedules of the task are cancelled.',
    input: z.strictObject({ summary, result: z.unknown() }),
    ends: true,
    async run(tx, args, { thread }) {
      // Some models write an object as a JSON string.
      const given = typeof args.result === 'string' ? parseJson(args.result) : args.result
      const answer = checkAnswer(schema, given)
      if (answer.kind === 'fits') {
        const structured = { summary: args.summary, result: answer.value }
        return { text: `Completed: ${args.summary}`, isError: false, structured }
      }
      const { problem } = answer
      if (await hasFailedCall(tx, thread, NAME)) {
        const structured = { summary: args.summary, problem }
        return { text: `Ended without a result: ${problem}`, isError: false, structured }
      }
      return {
        text: `${NAME}: result: ${problem}. Call it once more with a result that fits.`,
        isError: true,
      }
    },
  })
  const properties = {
    ...Object(tool.inputSchema['properties']),
    result: placeSchema(schema, '#/properties/result'),
  }
  return { ...tool, inputSchema: { type: 'object', properties, required: ['summary', 'result'] } }
}
