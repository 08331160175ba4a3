import { expect, test } from 'vitest'
import type { JsonObject, Requester } from '../core/forwarding.ts'
import { untilComplete } from './questions.ts'

/** Has a server ask a client by `method`; returns what the server is told, and what the client was asked. */
async function askFor(method: string, capabilities: JsonObject) {
  const asked: string[] = []
  const requester: Requester = {
    key: 'one',
    capabilities,
    repeats: false,
    ask: async asks => {
      asked.push(asks)
      return { action: 'accept' }
    },
  }
  const result = await untilComplete<object>(
    'x',
    { requester },
    async repeat =>
      repeat ?? {
        resultType: 'input_required',
        inputRequests: { question: { method, params: { message: 'Sure?' } } },
      },
  ).catch((error: unknown) => error)
  return { result, asked }
}

test('a client is asked what it declared', async () => {
  const { result, asked } = await askFor('elicitation/create', { elicitation: {} })
  expect(result).toEqual({ inputResponses: { question: { action: 'accept' } } })
  expect(asked).toEqual(['elicitation/create'])
})

test.each([
  ['sampling/createMessage', -32_021, { requiredCapabilities: { sampling: {} } }],
  ['elicitation/create', -32_021, { requiredCapabilities: { elicitation: {} } }],
  ['tools/call', -32_600, undefined],
])('%s, which a client did not declare, is not asked of it', async (method, code, data) => {
  const { result, asked } = await askFor(method, { tools: {} })
  expect(result).toMatchObject({ code, ...(data ? { data } : {}) })
  expect(asked).toEqual([])
})

test('a client that did not declare roots has none', async () => {
  expect(await askFor('roots/list', {})).toEqual({
    result: { inputResponses: { question: { roots: [] } } },
    asked: [],
  })
})
