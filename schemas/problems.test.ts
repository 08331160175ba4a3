import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeProblems } from './problems.ts'

const schema = z.strictObject({
  name: z.string().max(3),
  count: z.int().min(1).optional(),
  order: z.enum(['first', 'last']).optional(),
  part: z.discriminatedUnion('type', [z.object({ type: z.literal('text') })]).optional(),
  list: z.array(z.union([z.string(), z.strictObject({ at: z.string() })])).optional(),
  hook: z
    .string()
    .regex(/^[a-z]+$/, 'must be lower-case letters')
    .optional(),
})

test.for([
  [{}, 'name: is missing (expected string)'],
  [{ name: 1 }, 'name: expected string, received number'],
  [{ name: 'abcd' }, 'name: expected string to have <=3 characters'],
  [{ name: 'a', count: 0 }, 'count: expected number to be >=1'],
  [{ name: 'a', order: 'x' }, 'order: expected one of "first"|"last"'],
  [{ name: 'a', part: {} }, "part.type: expected 'text'"],
  [{ name: 'a', list: [{}] }, 'list.0.at: is missing (expected string)'],
  [{ name: 'a', hook: 'A' }, 'hook: must be lower-case letters'],
  [{ name: 'a', nmae: 1, x: 2 }, 'nmae: no such key; x: no such key'],
  [null, 'the frame: expected object, received null'],
] as const)('%j: %s', ([value, words]) => {
  const { error } = schema.safeParse(value)
  expect(error && describeProblems(error, 'the frame')).toBe(words)
})
