import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leanTools } from '../../hub/core/lean-tools.ts'
import { histories } from '../../hub/model/form/testing/histories.ts'
import { user } from '../../hub/model/form/testing/messages.ts'
import { argumentsOf } from '../../hub/model/form/testing/schemas.ts'
import { toolNamesOf } from '../support/mimics/tool-names.ts'
import { openPlayed, PLAYED } from '../support/played-providers.ts'
import { ask, request } from '../support/provider.ts'

const RUNS = { numRuns: 40 }

const CASES = PLAYED.flatMap(played => [true, false].map(vision => ({ played, vision })))

describe.each(CASES)('what is sent to $played.name, seeing: $vision', ({ played, vision }) => {
  test('any history and any tool is accepted', async () => {
    await using asked = await openPlayed(played, { vision, answer: () => ({ text: 'Yes.' }) })
    const made = fc.tuple(histories, fc.array(argumentsOf, { maxLength: 3 }))
    await fc.assert(
      fc.asyncProperty(made, async ([history, schemas]) => {
        const messages = [...history, user('[INBOX] And now?')]
        const tools = schemas.map(({ schema }, at) => ({
          name: `home.set ${at}`,
          description: 'Sets it',
          inputSchema: schema,
        }))
        const before = asked.mimic.refusals.length
        const { reply } = await ask(asked.model, request('', { messages, tools }))
        expect(reply.text).toBe('Yes.')
        expect(asked.mimic.refusals.slice(before)).toEqual([])
      }),
      RUNS,
    )
  })

  test('of 220 tools with long descriptions and the same names but for dots, those that look for others stay', async () => {
    await using asked = await openPlayed(played, { vision, answer: () => ({ text: 'Yes.' }) })
    const many = Array.from({ length: 110 }, (_none, at) =>
      ['.', '_'].map(dot => ({
        name: `garden${dot}gadget${dot}${at}`,
        description: 'Explains at length. '.repeat(at === 0 ? 250 : 1),
        inputSchema: {
          type: 'object',
          anyOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } } }],
        },
      })),
    ).flat()
    for (const tools of [many, [...many, ...leanTools]]) {
      await ask(asked.model, request('hi', { tools }))
      const sent = toolNamesOf(asked.mimic.requests.at(-1) ?? {})
      expect(sent).toHaveLength(128)
      expect(new Set(sent).size).toBe(128)
      expect(sent.includes('find_tools')).toBe(tools.length > many.length)
    }
    expect(asked.mimic.refusals).toEqual([])
  })
})
