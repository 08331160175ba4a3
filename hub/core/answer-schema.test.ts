import { describe, expect, test } from 'vitest'
import { answerSchema, checkAnswer, placeSchema, readAnswer } from './answer-schema.ts'

const disks = {
  type: 'object',
  properties: {
    disks: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, free: { $ref: '#/$defs/bytes' } },
        required: ['name', 'free'],
        additionalProperties: false,
      },
    },
  },
  required: ['disks'],
  $defs: { bytes: { type: 'integer', minimum: 0 } },
}
const value = { disks: [{ name: 'sda', free: 7 }] }
const json = JSON.stringify(value)

describe('an answer', () => {
  test.for([
    json,
    `\n ${json} \n`,
    `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``,
    `Here it is:\n\n\`\`\`\n${json}\n\`\`\`\nAnything else?`,
  ])('fits: %j', text => {
    expect(readAnswer(disks, text)).toEqual({ kind: 'fits', value })
  })

  test.for<[string, string]>([
    ['', 'it is empty'],
    ['One disk.', 'it is not JSON'],
    ['{"disks": [', 'it is not JSON'],
    [
      `${'`'.repeat(3)}json\n{"a": 1}\n${'`'.repeat(3)}\n${'`'.repeat(3)}\n{"a": 2}\n${'`'.repeat(3)}`,
      'it is not JSON',
    ],
    ['[]', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    ['{}', '#: Instance does not have required property "disks".'],
    [
      '{"disks": [{"name": 3, "free": 1}]}',
      '#/disks/0/name: Instance type "number" is invalid. Expected "string".',
    ],
    ['{"disks": [{"name": "a", "free": 1, "x": 1}]}', '#/disks/0/x: is not in the schema'],
  ])('does not fit: %j', ([text, problem]) => {
    expect(readAnswer(disks, text)).toEqual({ kind: 'misfit', problem })
  })

  test('JSON that holds a code fence fits as it is', () => {
    const text = { note: 'use\n```json\n{}\n```\n' }
    expect(readAnswer({ type: 'object' }, JSON.stringify(text))).toEqual({ kind: 'fits', value: text })
  })

  test.for([
    [{ type: 'object', properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(40)}!` }],
    [{ type: 'object', properties: { a: { $ref: '#/properties/a' } } }, { a: 1 }],
  ])('whose check would not end is refused in time: %j', ([schema = {}, answer]) => {
    expect(checkAnswer(schema, answer)).toMatchObject({
      kind: 'misfit',
      problem: expect.stringMatching(/^the schema cannot be checked/),
    })
  })
})

describe('a schema', () => {
  test.for<[object, RegExp]>([
    [{}, /"type": "object"/],
    [{ type: 'array' }, /"type": "object"/],
    [{ type: 'object', description: 'x'.repeat(9_000) }, /at most 8192 bytes/],
    [{ type: 'object', properties: { a: { $ref: 'https://x.test/a.json' } } }, /x\.test.*own parts/],
    [{ type: 'object', properties: { a: { $ref: '#/$defs/gone' } } }, /#\/\$defs\/gone/],
    [{ type: 'object', $ref: '#' }, /cannot|can be checked/],
    [{ type: 'object', allOf: [null] }, /can be checked/],
    [{ type: 'object', $schema: 'http://json-schema.org/draft-04/schema#' }, /can be checked/],
  ])('is refused: %j', ([schema, words]) => {
    const parsed = answerSchema.safeParse(schema)
    expect(parsed.error?.issues[0]?.message).toMatch(words)
  })

  test('may refer to itself', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false }
    expect(answerSchema.safeParse(tree).success).toBe(true)
    expect(readAnswer(tree, '{"next": {"next": {}}}')).toMatchObject({ kind: 'fits' })
    expect(readAnswer(tree, '{"next": {"nxt": {}}}')).toMatchObject({
      problem: '#/next/nxt: is not in the schema',
    })
  })

  test('keeps its references as a part of another one', () => {
    const whole = { type: 'object', properties: { result: placeSchema(disks, '#/properties/result') } }
    expect(checkAnswer(whole, { result: value })).toMatchObject({ kind: 'fits' })
    expect(checkAnswer(whole, { result: { disks: [{ name: 'a', free: -1 }] } })).toMatchObject({
      kind: 'misfit',
      problem: expect.stringContaining('#/result/disks/0/free'),
    })
  })
})
