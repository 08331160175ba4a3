import { describe, expect, test } from 'vitest'
import { describeField, readFields } from '../../core/form-fields.ts'
import type { JsonObject } from '../../core/forwarding.ts'
import { fillForm } from './fill-form.ts'

const form = (properties: JsonObject, ...required: string[]) =>
  readFields({ type: 'object', properties, required })

const TITLED = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]
const SERVER = form(
  {
    host: { type: 'string', default: 'localhost' },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    secure: { type: 'boolean' },
  },
  'port',
)

describe('a note', () => {
  test.each([
    ['8080', { host: 'localhost', port: 8080 }],
    ['port: 8080; secure: yes', { host: 'localhost', port: 8080, secure: true }],
    ['host: a.b\nport= 1', { host: 'a.b', port: 1 }],
    ['{"host":"a","port":"22","secure":false}', { host: 'a', port: 22, secure: false }],
  ])('%j fills a form in', (note, content) => {
    expect(fillForm(SERVER, note)).toEqual(content)
  })

  test.each([
    [undefined, 'port: missing'],
    ['port: 0', 'port: must be integer from 1 to 65535'],
    ['port: 1.5', 'port: is no whole number'],
    ['{"port": 1, "user": "x"}', 'there is no field user'],
    ['{"port": 1, "host": 5}', 'host: is no text'],
    ['port: 1; secure: perhaps', 'secure: is yes or no'],
  ])('%j is refused with what is wanted', (note, why) => {
    expect(() => fillForm(SERVER, note)).toThrow(why)
    expect(() => fillForm(SERVER, note)).toThrow('port: integer from 1 to 65535, required')
  })

  test('that could be for several fields has to name them', () => {
    const both = form({ a: { type: 'string' }, b: { type: 'string' } }, 'a', 'b')
    expect(() => fillForm(both, 'hello')).toThrow('Write "field: value", with a, b')
    expect(fillForm(both, 'a: x: y; b: z')).toEqual({ a: 'x: y', b: 'z' })
  })

  test('is only a remark where nothing is asked for', () => {
    expect(fillForm(form({}), 'fine, go ahead')).toEqual({})
  })
})

test.each([
  [{ type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] }, 'second', 'b'],
  [{ type: 'string', oneOf: TITLED }, 'Green', 'g'],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2 }, 'b, a', ['b', 'a']],
  [{ type: 'array', items: { anyOf: TITLED } }, ['Red'], ['r']],
  [{ type: 'string', format: 'email' }, 'a@b.c', 'a@b.c'],
  [{ type: 'string', format: 'date' }, '2026-11-22', '2026-11-22'],
  [{ type: 'number', minimum: 0.5 }, '0.5', 0.5],
])('%j takes %j', (property, given, value) => {
  const note = typeof given === 'string' ? given : JSON.stringify({ it: given })
  expect(fillForm(form({ it: property }, 'it'), note)).toEqual({ it: value })
})

test.each([
  [{ type: 'string', enum: ['a', 'b'] }, 'c', 'is none of the choices'],
  [{ type: 'string', maxLength: 2 }, 'abc', 'must be text of at most 2 characters'],
  [{ type: 'string', format: 'uri' }, 'nowhere', 'is no uri'],
  [{ type: 'string', format: 'date' }, '2026-02-31', 'is no date'],
  [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 }, 'a', 'must be list (at least 2)'],
])('%j does not take %j', (property, given, why) => {
  expect(() => fillForm(form({ it: property }, 'it'), given)).toThrow(why)
})

test('a field is described on one line, whatever its server writes', () => {
  const [field] = form({ it: { type: 'string', title: 'It\u0007', description: 'one\ntwo', oneOf: TITLED } })
  expect(field && describeField(field)).toBe('one of r (Red), g (Green). It: one two')
})

test.each([
  [{ it: { type: 'object' } }, 'it: a form has texts, numbers, yes or no, and choices alone'],
  [
    Object.fromEntries(Array.from({ length: 51 }, (_, index) => [index, { type: 'string' }])),
    'more than 50 fields',
  ],
])('%j is no form', (properties, why) => {
  expect(() => form(properties)).toThrow(why)
})
