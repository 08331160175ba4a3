import { expect, test } from 'vitest'
import { z } from 'zod'
import { toInputSchema } from './tool-input.ts'

test('a schema for models says what there is, and leaves the finer checks to the tool', () => {
  const input = z.strictObject({
    server: z.string().min(1).max(100).describe('its name'),
    since: z.iso.datetime().optional(),
    span: z.string().regex(/^\d{1,9}[smh]$/),
    limit: z.int().min(1).max(200).default(20),
    year: z.int().min(1870).max(2200).optional(),
    offset: z.int().min(0).default(0),
    confirm: z.boolean().default(false),
    plot: z.boolean().default(true),
    labels: z.record(z.string().regex(/^\w+$/), z.string().max(5)).default({}),
    seasons: z.array(z.int()).min(1).max(100).optional(),
    state: z.enum(['on', 'off']).default('on'),
  })
  expect(toInputSchema(input)).toEqual({
    type: 'object',
    properties: {
      server: { type: 'string', description: 'its name' },
      since: { type: 'string' },
      span: { type: 'string' },
      limit: { type: 'integer', maximum: 200, default: 20 },
      year: { type: 'integer' },
      offset: { type: 'integer' },
      confirm: { type: 'boolean' },
      plot: { type: 'boolean', default: true },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      seasons: { type: 'array', items: { type: 'integer' } },
      state: { type: 'string', enum: ['on', 'off'], default: 'on' },
    },
    required: ['server', 'span'],
  })
})
