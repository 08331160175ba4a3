import type { JsonObject } from '../../hub/core/forwarding.ts'
import type { ServerCallOptions } from '../../hub/core/tool-box.ts'
import type { StubTool, World } from './runtime-world.ts'
import { until } from './until.ts'

/** A form with one field that has to be filled in. */
export const PORT_FORM: JsonObject = {
  mode: 'form',
  message: 'Which port?',
  requestedSchema: {
    type: 'object',
    properties: { port: { type: 'integer', minimum: 1, maximum: 65_535, title: 'Port' } },
    required: ['port'],
  },
}

/** A question that is answered with yes or no. */
export const SURE: JsonObject = { message: 'Really?', requestedSchema: { type: 'object', properties: {} } }

/** A tool whose server asks in the midst of each call; it keeps the answers and tells the last. */
export function askingTool(method: string, ...questions: JsonObject[]) {
  const answers: JsonObject[] = []
  const errors: string[] = []
  const run = async (_args: JsonObject, { asker, signal }: ServerCallOptions) => {
    if (!asker) throw new Error('Nobody can be asked')
    for (const params of questions) {
      try {
        answers.push(await asker.ask(method, params, signal))
      } catch (error) {
        signal.throwIfAborted()
        errors.push(error instanceof Error ? error.message : String(error))
      }
    }
    return { text: JSON.stringify(answers.at(-1) ?? errors.at(-1)), isError: false }
  }
  return { answers, errors, tool: { name: 'setup', run } satisfies StubTool }
}

/** The oldest question that is open, once there is one. */
export function openQuestion(world: World) {
  return until('a question is open', () =>
    world.store.db
      .selectFrom('approvals')
      .selectAll()
      .where('status', '=', 'open')
      .orderBy('created_at')
      .orderBy('id')
      .executeTakeFirst(),
  )
}
