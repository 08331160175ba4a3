import { describe, expect, it } from 'vitest'
import { leanTools } from '../../core/lean-tools.ts'
import type { ModelTool } from '../../core/model.ts'
import { providers } from '../providers/index.ts'
import type { ToolForm } from './form.ts'
import { shapeTools } from './shape-tools.ts'

const { tools: form } = providers.anthropic.form({
  provider: 'anthropic',
  baseUrl: 'http://h',
  model: 'm',
  vision: false,
})
const NONE = new Set<string>()

function tool(
  name: string,
  inputSchema: ModelTool['inputSchema'] = { type: 'object' },
  description = 'Does it.',
): ModelTool {
  return { name, description, inputSchema }
}

function shapeOne(given: ModelTool, changes: Partial<ToolForm> = {}): ModelTool {
  const [shaped] = shapeTools([given], { ...form, ...changes }, NONE)
  if (!shaped) throw new Error('It was left out')
  return shaped
}

describe('shapeTools', () => {
  it('sends a tool with an object of arguments, and changes nothing that it is given', () => {
    const given = Object.freeze(
      tool('home.get', Object.freeze({ $schema: 'x', type: 'object', oneOf: [{ required: ['a'] }] })),
    )
    expect(shapeOne(given)).toEqual({
      name: expect.stringMatching(/^home_get_/),
      description: 'Does it.',
      inputSchema: { type: 'object', properties: {} },
    })
  })

  it('sends the most needed: those that find others, those that were used, then the first', () => {
    const tools = [...['m1', 'm2', 's1', 's2', 's3'].map(name => tool(name)), ...leanTools]
    const names = (most: number, leftOut: string[] = []) =>
      shapeTools(tools, { ...form, most, leftOut }, new Set(['s2', 'gone'])).map(({ name }) => name)
    expect(names(4)).toEqual(['m1', 's2', 'find_tools', 'call_tool'])
    expect(names(6)).toEqual(['m1', 'm2', 's1', 's2', 'find_tools', 'call_tool'])
    expect(names(99, ['m1', 's2'])).toEqual(['m2', 's1', 's3', 'find_tools', 'call_tool'])
    expect(names(0)).toEqual([])
  })

  it('cuts a description and points to the rest', () => {
    const { description } = shapeOne(tool('a', {}, 'x'.repeat(5000)), { longestDescription: 100 })
    expect(description).toHaveLength(100)
    expect(description).toMatch(/x … \(cut; find_tools shows the rest\)$/)
  })

  it('keeps what the schema no longer says in a description that is cut', () => {
    const union = { anyOf: [{ required: ['a'] }, { required: ['b'] }] }
    const { description } = shapeOne(tool('a', union, 'x'.repeat(5000)), { longestDescription: 200 })
    expect(description).toHaveLength(200)
    expect(description).toMatch(/shows the rest\)\nGive one of these: a; b\.$/)
  })

  it('describes a tool that says nothing of itself', () => {
    expect(shapeOne(tool('a', {}, ' ')).description).toBe('a')
    expect(shapeOne({ ...tool('a', {}, ''), title: 'An A' }).description).toBe('An A')
  })

  it('tells of arguments whose names a provider refuses', () => {
    const properties = { $top: { type: 'integer', description: 'How many' }, 'filter[id]': {}, id: {} }
    const { description, inputSchema } = shapeOne(tool('a', { properties, required: ['filter[id]', 'id'] }))
    expect(inputSchema).toEqual({ type: 'object', properties: { id: {} }, required: ['id'] })
    expect(description).toBe(
      'Does it.\nThrough call_tool it takes more: $top (How many); filter[id], required.',
    )
    expect(
      shapeOne(tool('a', { properties }), { plainArguments: false }).inputSchema['properties'],
    ).toHaveProperty('$top')
  })

  it('sends a schema that is nested thousands deep as one that takes anything', () => {
    let deep: object = {}
    for (let level = 0; level < 20_000; level++) deep = { type: 'array', items: deep }
    expect(shapeOne(tool('a', { properties: { deep } })).inputSchema).toEqual({
      type: 'object',
      properties: {},
    })
  })
})
