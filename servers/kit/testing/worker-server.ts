import { z } from 'zod'
import { foreignText } from '../foreign.ts'
import { checkHealth } from '../health.ts'
import { runServer } from '../run.ts'
import type { ServerDefinition } from '../server.ts'
import { quote } from '../text.ts'
import { defineTool } from '../tool.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** A tool that counts, reports progress, and shows foreign text. */
const count = defineTool({
  name: 'count',
  title: 'Count',
  description: 'Counts up to a number and tells how far it is.',
  annotations,
  input: z.strictObject({ to: z.int().max(1000).default(50), title: z.string().default('a film') }),
  output: z.object({ to: z.int(), title: foreignText() }),
  async run({ to, title }, _signal, report) {
    for (let done = 1; done <= to; done++) report(done, to, `at ${done}`)
    const image = { data: 'AAAA', mimeType: 'image/png' }
    return { data: { to, title }, text: `Counted to ${to} for ${quote(title)}.`, images: [image] }
  },
})

const wipe = defineTool({
  name: 'wipe',
  title: 'Wipe',
  description: 'Would change something.',
  annotations: { ...annotations, readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({}),
  output: z.object({}),
  run: async () => ({ data: {}, text: 'Wiped.' }),
})

/**
 * A server for the kit's own tests, with the features that the fixture server lacks: progress, images,
 * health.
 */
export const worker: ServerDefinition = {
  name: 'worker',
  version: '1.0.0',
  title: 'Worker',
  instructions: 'For tests.',
  start: async () => ({
    tools: [count, wipe],
    watchers: [],
    health: async () => [
      await checkHealth({ name: 'a', kind: 'thing', address: 'http://a' }, async () => '1.2'),
      await checkHealth({ name: 'b', kind: 'thing', address: 'http://b' }, async () => {
        throw new Error('down')
      }),
    ],
    [Symbol.asyncDispose]: async () => undefined,
  }),
}

if (import.meta.main) await runServer(worker, { kind: 'stdio' })
