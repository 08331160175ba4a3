import type { JsonObject } from '../../hub/core/forwarding.ts'
import type { ServerCallOptions } from '../../hub/core/tool-box.ts'
import type { StubTool, World } from './runtime-world.ts'
import { until } from './until.ts'

/** A form with one required field. */
export const PORT_FORM: JsonObject = {
  mode: 'form',
  message: 'Which port?',
  requestedSchema: {
    type: 'object',
    properties: { port: { type: 'integer', minimum: 1, maximum: 65_535, title: 'Port' } },
    required: ['port'],
  },
}

/** A question with the answers yes and no. */
export const SURE: JsonObject = { message: 'Really?', requestedSchema: { type: 'object', properties: {} } }

/** Creates a tool whose server asks during each call; it records the answers and returns the last. */
export function askingTool(method: string, ...questions: JsonObject[]) {
  const answers: JsonObject[] = []
  const errors: string[] = []
  const run = async (_args: JsonObject, { requester, signal }: ServerCallOptions) => {
    if (!requester) throw new Error('Nobody can be asked')
    for (const params of questions) {
      try {
        answers.push(await requester.ask(method, params, signal))
      } catch (error) {
        signal.throwIfAborted()
        errors.push(error instanceof Error ? error.message : String(error))
      }
    }
    return { text: JSON.stringify(answers.at(-1) ?? errors.at(-1)), isError: false }
  }
  return { answers, errors, tool: { name: 'setup', run } satisfies StubTool }
}

/** Returns the oldest open question, once there is one. */
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
