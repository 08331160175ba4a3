import { z } from 'zod'
import { ToolFailure } from '../failure.ts'
import type { ServerDefinition, ServerDeps, Watcher } from '../server.ts'
import { defineTool } from '../tool.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const empty = z.strictObject({})

/** A tool that adds, and fails on request. */
const add = defineTool({
  name: 'add',
  title: 'Add',
  description: 'Adds two whole numbers.',
  annotations,
  input: z.strictObject({ a: z.int(), b: z.int().max(100).default(1) }),
  output: z.object({ sum: z.int() }),
  run: async ({ a, b }) => ({ data: { sum: a + b }, text: `${a} + ${b} = ${a + b}` }),
})

const refuse = defineTool({
  name: 'refuse',
  title: 'Refuse',
  description: 'Fails on purpose.',
  annotations,
  input: empty,
  output: z.object({}),
  run: async () => {
    throw new ToolFailure({ what: 'It is refused.', where: 'here', why: 'on purpose', fix: 'Do not ask.' })
  },
})

/** Returns a tool that raises a cpu_high event, so that tests decide when. */
const raise = ({ emit }: ServerDeps) =>
  defineTool({
    name: 'raise',
    title: 'Raise',
    description: 'Raises an event.',
    annotations,
    input: empty,
    output: z.object({}),
    run: async () => {
      emit('cpu_high', { host: 'test', percent: 99, threshold: 90 }, 'cpu_high:test')
      return { data: {}, text: 'raised' }
    },
  })

/** Creates a small server for the kit's own tests. `onDispose` is called when it ends. */
export function createFixtureServer(
  options: { watchers?: Watcher[]; onDispose?: () => void } = {},
): ServerDefinition {
  return {
    name: 'fixture',
    version: '1.2.3',
    title: 'Fixture',
    instructions: 'For tests.',
    start: async deps => ({
      tools: [add, refuse, raise(deps)],
      watchers: options.watchers ?? [],
      [Symbol.asyncDispose]: async () => options.onDispose?.(),
    }),
  }
}
