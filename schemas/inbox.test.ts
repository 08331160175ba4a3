import { expect, test } from 'vitest'
import { historyContent } from './inbox.ts'

test.each([
  ['of before', undefined],
  ['with thoughts of before', { by: 'm at http://h/v1', text: 'so' }],
  [
    'with signatures',
    { by: 'compatible/m', text: '', extras: [{ google: { thought_signature: 'c2ln' } }, null] },
  ],
  ['with parts', { by: 'openai/m', text: 'so', parts: [{ type: 'reasoning', length: 2, meta: { a: {} } }] }],
])('a stored message of the assistant %s is read as it was', (_, thinking) => {
  const row = { role: 'assistant', text: 'Hi', calls: [], ...(thinking && { thinking }) }
  expect(historyContent.parse(row)).toEqual(row)
})
