import { expect, test } from 'vitest'
import { z } from 'zod'
import { FOREIGN_LINE, FOREIGN_NOTE, foreignLines, foreignText } from './foreign.ts'
import { createFakeClock } from './testing/fake-clock.ts'
import { assertFits } from './testing/server-world.ts'
import { defineTool } from './tool.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const context = { clock: createFakeClock(), log: () => undefined, signal: new AbortController().signal }

function create(output: z.ZodObject, data: Record<string, unknown>, untrusted?: boolean) {
  return defineTool({
    name: 'look',
    title: 'Look',
    description: 'Looks.',
    annotations,
    input: z.strictObject({}),
    output,
    run: async () => ({ data, text: 'seen', untrusted }),
  })
}

test.each([
  ['itself', foreignText(10)],
  ['optional', foreignText(10).optional()],
  ['described after', foreignText(10).describe('the title')],
  ['with about', foreignText(10, 'the title')],
  ['in a list', z.array(z.object({ deep: foreignText(10) }))],
])('a field of foreign text, %s, is said and marks the result', async (_what, field) => {
  const value = field instanceof z.ZodArray ? [{ deep: 'a\u001b[2J long title' }] : 'a\u001b[2J long title'
  const tool = create(z.object({ field }), { field: value })
  expect(JSON.stringify(tool.listed.outputSchema)).toContain(FOREIGN_NOTE)
  const result = await tool.call({}, context)
  expect(result.content).toEqual([{ type: 'text', text: `seen\n${FOREIGN_LINE}` }])
  expect(result._meta).toEqual({ 'superbloom/untrusted': true })
  expect(JSON.stringify(result.structuredContent)).toContain('"a [2J lon…"')
  assertFits(tool.listed.outputSchema ?? {}, result.structuredContent)
})

test('log lines are cleaned as lines', async () => {
  const tool = create(z.object({ log: foreignLines({ lines: 2, width: 5 }) }), {
    log: '1\n\u001b[31mred\u001b[0m\r\n  1234567\n\n',
  })
  const result = await tool.call({}, context)
  expect(result.structuredContent).toEqual({ log: '(1 earlier line cut)\nred\n  1234…' })
})

test('a result that shows none is not marked, nor one that says so itself', async () => {
  const plain = await create(z.object({ a: z.string() }), { a: 'x' }).call({}, context)
  const said = await create(z.object({ a: foreignText() }), { a: '' }, false).call({}, context)
  for (const result of [plain, said]) {
    expect(result._meta).toBeUndefined()
    expect(result.content).toEqual([{ type: 'text', text: 'seen' }])
  }
})
