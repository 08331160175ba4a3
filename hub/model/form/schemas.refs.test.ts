import { describe, expect, it } from 'vitest'
import { inlineRefs } from './schemas.ts'

describe('inlineRefs', () => {
  it.each([
    ['$defs', { $defs: { P: { type: 'string' } }, properties: { a: { $ref: '#/$defs/P', title: 'A' } } }],
    [
      'definitions',
      { definitions: { P: { type: 'string' } }, properties: { a: { $ref: '#/definitions/P', title: 'A' } } },
    ],
    [
      'escapes',
      { $defs: { 'P/q r': { type: 'string' } }, properties: { a: { $ref: '#/$defs/P~1q%20r', title: 'A' } } },
    ],
    [
      'a chain',
      {
        $defs: { P: { $ref: '#/$defs/Q' }, Q: { type: 'string' } },
        properties: { a: { $ref: '#/$defs/P', title: 'A' } },
      },
    ],
  ])('replaces by %s', (_, schema) => {
    expect(inlineRefs(schema)).toEqual({ properties: { a: { type: 'string', title: 'A' } } })
  })

  it('replaces a reference at the top, and one to another property', () => {
    const object = {
      type: 'object',
      properties: {
        a: { type: 'array', items: { type: 'string' } },
        b: { $ref: '#/$defs/O/properties/a/items' },
      },
    }
    const { properties } = inlineRefs({ $ref: '#/$defs/O', $defs: { O: object } })
    expect(properties).toMatchObject({ b: { type: 'string' } })
  })

  it('leaves open what leads elsewhere, and properties and values of such names', () => {
    const properties = { a: { $ref: 'https://example.com/s.json' }, $ref: { const: { $ref: '#' } } }
    expect(inlineRefs({ properties })).toEqual({ properties: { a: {}, $ref: { const: { $ref: '#' } } } })
    expect(inlineRefs({ $ref: '#/properties/%' })).toEqual({})
  })

  it('cuts what stands within itself', () => {
    const node = {
      type: 'object',
      description: 'a node',
      properties: { next: { $ref: '#/$defs/N' }, of: { type: 'array', items: { $ref: '#' } } },
    }
    const inlined = inlineRefs({ ...node, $defs: { N: node } })
    expect(JSON.stringify(inlined)).not.toContain('$ref')
    expect(inlined).toMatchObject({ properties: { next: { properties: { next: { properties: {} } } } } })
  })

  it('stays small where a few schemas stand for millions', () => {
    const twice = (name: string) => ({ properties: { a: { $ref: name }, b: { $ref: name } } })
    const $defs = Object.fromEntries([...Array(30).keys()].map(at => [`d${at}`, twice(`#/$defs/d${at + 1}`)]))
    expect(JSON.stringify(inlineRefs({ $defs, ...twice('#/$defs/d0') })).length).toBeLessThan(30_000)
  })
})
