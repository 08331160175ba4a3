import { expect, test } from 'vitest'
import { z } from 'zod'
import { confirmField, confirmOutput, toPreview } from './confirm.ts'
import { assertReadable } from './testing/readable.ts'

test('a preview does nothing, says what would be, and fits the output', () => {
  expect(confirmField.parse(undefined)).toBe(false)
  const { data, text } = toPreview('stop atm-10 with 3 players online', ['They lose their connection.'])
  expect(z.object(confirmOutput).parse(data)).toEqual({
    done: false,
    preview: { would: 'stop atm-10 with 3 players online', effects: ['They lose their connection.'] },
  })
  expect(text).toBe(
    'Nothing was done. It would stop atm-10 with 3 players online.\n- They lose their connection.\nCall it again with confirm: true to do it.',
  )
  assertReadable(text)
})
