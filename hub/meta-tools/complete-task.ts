import { z } from 'zod'
import { checkAnswer, placeSchema } from '../core/answer-schema.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import { hasFailedCall } from '../store/ledger.ts'
import { defineMetaTool, done, type MetaDeps, type MetaTool, refused } from './meta-tool.ts'

const NAME = 'complete_task'
const summary = z.string().min(1).max(8000)

export const completeTask = (deps: MetaDeps): MetaTool => ({
  ...complete(deps),
  withResult: schema => withResult(schema, deps),
})

const complete = defineMetaTool({
  name: NAME,
  forGuests: true,
  title: 'Done',
  description:
    'Says that what this cycle was about is done, with a summary for the record. Ends this cycle; put what people should read beside the call. Pending schedules stay. In a task it ends the task: the summary is its result, and its schedules are cancelled.',
  input: z.strictObject({ summary }),
  ends: true,
  run: async (_tx, args) => done(`Completed: ${args.summary}`, args),
})

/** Returns the tool for a task whose result must fit the schema. A second misfit ends it without one. */
function withResult(schema: JsonObject, deps: MetaDeps): MetaTool {
  const create = defineMetaTool({
    name: NAME,
    forGuests: true,
    title: 'Done',
    description:
      'Ends your task. `result` is what its maker asked for; the summary says in words what you did. The schedules of the task are cancelled.',
    input: z.strictObject({ summary, result: z.unknown() }),
    ends: true,
    async run(tx, args, { thread }) {
      // Some models write an object as a JSON string.
      const given = typeof args.result === 'string' ? parseJson(args.result) : args.result
      const answer = checkAnswer(schema, given)
      if (answer.kind === 'fits')
        return done(`Completed: ${args.summary}`, { summary: args.summary, result: answer.value })
      const { problem } = answer
      if (await hasFailedCall(tx, thread, NAME))
        return done(`Ended without a result: ${problem}`, { summary: args.summary, problem })
      return refused(`${NAME}: result: ${problem}. Call it once more with a result that fits.`)
    },
  })
  const tool = create(deps)
  const properties = {
    ...Object(tool.inputSchema['properties']),
    result: placeSchema(schema, '#/properties/result'),
  }
  return { ...tool, inputSchema: { type: 'object', properties, required: ['summary', 'result'] } }
}
