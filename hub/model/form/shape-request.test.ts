import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leanTools } from '../../core/lean-tools.ts'
import type { ModelMessage, ModelRequest } from '../../core/model.ts'
import type { Form } from './form.ts'
import { shapeRequest } from './shape-request.ts'
import { ALL_FORMS } from './testing/forms.ts'
import { histories, THOUGHT } from './testing/histories.ts'
import { assistant, result, sketch, user } from './testing/messages.ts'
import { findBroken, findUnsigned } from './testing/rules.ts'

const tools = [...leanTools, { name: 'home.get', description: 'Gets it.', inputSchema: { type: 'object' } }]

function request(messages: ModelMessage[], changes: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'Be brief.', messages, tools, maxOutput: 100, timezone: 'UTC', now: 0, ...changes }
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

const textsOf = (messages: readonly ModelMessage[]) => messages.map(({ text }) => text).join('\n')

/** Returns the texts that have to arrive: all visible ones, as far as they differ from quotes and joins. */
const saidIn = (messages: readonly ModelMessage[]) =>
  messages.flatMap(({ role, text }) => (role !== 'tool' && /^\[?\w/.test(text) ? [text.toWellFormed()] : []))

/** Tells whether a request may end here: with a message of the user, or with the last result of a step. */
const isAsked = (messages: readonly ModelMessage[], end: number) =>
  messages[end - 1]?.role !== 'assistant' && messages[end]?.role !== 'tool'

const named = ALL_FORMS.map((form): [string, Form] => [
  `${form.family}, pictures: ${form.history.images}`,
  form,
])

describe.each(named)('any history for %s', (_, form) => {
  it('is accepted, whole, and left as it was', () => {
    fc.assert(
      fc.property(histories, messages => {
        const shaped = shapeRequest(freeze(request(messages)), form).messages
        expect(findBroken(shaped, form)).toEqual([])
        expect(textsOf(shaped)).not.toContain(THOUGHT)
        for (const text of saidIn(messages)) expect(textsOf(shaped)).toContain(text)
      }),
    )
  })

  it('is accepted as text', () => {
    const flat = { ...form, history: { ...form.history, flat: true } }
    fc.assert(
      fc.property(histories, messages => {
        const shaped = shapeRequest(request(messages), flat).messages
        const rules = findBroken(shaped, form).filter(fault => !fault.startsWith('reasoning everywhere'))
        expect(rules).toEqual([])
        expect(shaped.filter(({ role }) => role === 'tool')).toEqual([])
      }),
    )
  })

  it('keeps its beginning when it grows, but for the last message of the user', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (messages, at) => {
        const ends = [...messages.keys()].filter(end => isAsked(messages, end + 1)).map(end => end + 1)
        fc.pre(ends.length > 0)
        const before = shapeRequest(request(messages.slice(0, ends[at % ends.length])), form).messages
        const after = shapeRequest(request(messages), form).messages
        expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
        const [last, now] = [before.at(-1), after[before.length - 1]]
        if (last?.role === 'tool') expect(now).toEqual(last)
        else expect(now?.text.startsWith(last?.text ?? '')).toBe(true)
      }),
    )
  })
})

describe('shapeRequest', () => {
  const formOf = (family: string) => {
    const form = ALL_FORMS.find(each => each.family.startsWith(`${family} at `))
    if (!form) throw new Error(`There is no ${family}`)
    return form
  }

  it('gives back the hub’s names, those of tools that are left out too', () => {
    const form = formOf('openai/gpt-5.4')
    const { tools: sent, names } = shapeRequest(request([]), { ...form, tools: { ...form.tools, most: 2 } })
    expect(sent.map(({ name }) => name)).toEqual(['find_tools', 'call_tool'])
    expect([...names.values()]).toEqual(['find_tools', 'call_tool', 'home.get'])
    expect(names.get('find_tools')).toBe('find_tools')
  })

  it('tells calls as text where no tool is sent', () => {
    const history = [user('a'), assistant('', ['1']), result('1')]
    const { messages } = shapeRequest(request(history, { tools: [] }), formOf('anthropic/claude-opus-4-6'))
    expect(sketch(messages)).toEqual([
      'user: a',
      'assistant: (I called get_time with {})',
      'user: The result of get_time: of 1',
    ])
  })

  it.each(['openrouter/google/gemini-3-pro', 'compatible/gemini-3-pro'])(
    'signs calls of others for %s',
    family => {
      const form = formOf(family)
      const foreign = { by: 'openai/gpt-5.4', text: THOUGHT }
      const history = [user('a'), assistant('', ['1', '2'], foreign), result('1'), result('2')]
      expect(findUnsigned(shapeRequest(request(history), form).messages, form)).toEqual([])
    },
  )
})
