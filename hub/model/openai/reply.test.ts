import { describe, expect, it } from 'vitest'
import type { ModelError } from '../../core/model.ts'
import { begunOf } from '../wire/stream-reply.ts'
import { createReplyReader } from './reply.ts'

const endpoint = { baseUrl: 'http://gpu.lan:8000/v1', apiKey: 'sk-secret', model: 'qwen3' }

/** Reads a stream of chunks, and returns the reply with the text as it was shown. */
function read(chunks: unknown[]) {
  const shown: string[] = []
  const reader = createReplyReader({
    endpoint,
    onText: text => shown.push(text),
    makeId: position => `made_${position}`,
    family: 'compatible/qwen3',
    isTool: () => true,
  })
  for (const chunk of chunks) reader.take(chunk)
  return { reader, shown, finish: () => reader.finish() }
}

const delta = (value: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: value, finish_reason }],
})
const END = delta({}, 'stop')
const call = (id: string, name: string, args: string) => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }],
})

describe('a reply', () => {
  it('is text, shown piece by piece, with its usage', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 8 } }
    const { shown, finish } = read([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hello' }),
      { ...delta({ content: ' there' }), usage: null },
      END,
      { choices: [], usage },
    ])
    expect(finish()).toEqual({
      text: 'Hello there',
      calls: [],
      usage: { input: 12, output: 3, cachedInput: 8 },
      truncated: false,
    })
    expect(shown).toEqual(['Hello', ' there'])
  })

  it.each([
    ['missing', [END]],
    ['empty', [{ ...END, usage: {} }]],
    ['null', [{ ...END, usage: null }]],
  ])('has no usage where that is %s', (_, chunks) => {
    expect(read(chunks).finish()).not.toHaveProperty('usage')
  })

  it('keeps the last usage of many', () => {
    const usage = (tokens: number) => ({ usage: { prompt_tokens: 5, completion_tokens: tokens } })
    expect(read([usage(1), { ...END, ...usage(2) }]).finish().usage).toEqual({
      input: 5,
      output: 2,
      cachedInput: 0,
    })
  })

  it('has calls, whatever its reason to end', () => {
    expect(read([delta(call('a', 'f', '{"x":1}')), END]).finish().calls).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
    ])
  })

  it.each([
    ['reasoning_content', [delta({ reasoning_content: 'hm' }), delta({ content: 'Hi' })]],
    ['reasoning', [delta({ reasoning: 'hm', content: '' }), delta({ content: 'Hi' })]],
    [
      'a think block',
      [delta({ content: '<thi' }), delta({ content: 'nk>hm</think>\n' }), delta({ content: 'Hi' })],
    ],
    [
      'thinking parts',
      [
        delta({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'Hi' },
          ],
        }),
      ],
    ],
  ])('drops %s', (_, chunks) => {
    const { shown, finish } = read([...chunks, END])
    expect(finish().text).toBe('Hi')
    expect(shown.join('')).toBe('Hi')
  })

  it('keeps reasoning_content aside, with whose it is', () => {
    const chunks = [
      delta({ reasoning_content: 'h' }),
      delta({ reasoning_content: 'm' }),
      delta({ content: 'Hi' }),
    ]
    const reply = read([...chunks, END]).finish()
    expect(reply.thinking).toEqual({ by: 'compatible/qwen3', text: 'hm' })
    expect(read([delta({ content: 'Hi' }), END]).finish()).not.toHaveProperty('thinking')
  })

  it('drops a thought without its opening tag from the whole text', () => {
    expect(read([delta({ content: 'hm\n</think>\n\nHi' }), END]).finish().text).toBe('Hi')
    expect(read([delta({ content: 'hm</thi' }), delta({ content: 'nk>Hi' }), END]).finish().text).toBe('Hi')
  })

  it('shows a held-back ending', () => {
    const { shown, finish } = read([delta({ content: 'a <th' }), END])
    expect(finish().text).toBe('a <th')
    expect(shown).toEqual(['a', ' <th'])
  })

  it('shows a refusal as text', () => {
    expect(read([delta({ refusal: 'I will not.' }), END]).finish().text).toBe('I will not.')
  })

  it.each(['length', 'max_tokens'])('is truncated by %s', reason => {
    expect(read([delta({ content: 'Hel' }, reason)]).finish()).toMatchObject({ text: 'Hel', truncated: true })
  })

  it('is read from one whole document too', () => {
    const message = { role: 'assistant', content: 'Hi', ...call('a', 'f', '{}') }
    expect(read([{ choices: [{ message, finish_reason: 'tool_calls' }] }]).finish()).toEqual({
      text: 'Hi',
      calls: [{ id: 'a', name: 'f', arguments: '{}' }],
      truncated: false,
    })
  })

  it('passes by chunks of strange shape', () => {
    const strange = [
      {},
      { choices: null },
      { choices: [null] },
      { choices: [{ delta: null }] },
      delta({ content: 7 }),
    ]
    expect(read([...strange, delta({ content: 'Hi' }), END]).finish().text).toBe('Hi')
  })

  it('keeps what came beside its calls', () => {
    const extra_content = { google: { thought_signature: 'c2lnbmVk' } }
    const [one] = call('a', 'f', '').tool_calls
    const { finish } = read([
      delta({ tool_calls: [{ ...one, extra_content }] }),
      delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      delta({}, 'tool_calls'),
    ])
    expect(finish()).toMatchObject({
      calls: [{ id: 'a' }, { id: 'b' }],
      thinking: { by: 'compatible/qwen3', text: '', extras: [extra_content, null] },
    })
  })

  it("puts OpenRouter's reasoning_details together", () => {
    const piece = (fields: object) => delta({ reasoning_details: [{ index: 0, ...fields }] })
    const { finish } = read([
      piece({ type: 'reasoning.text', text: 'Let me ' }),
      piece({ type: 'reasoning.text', text: 'look', signature: null }),
      piece({ type: 'reasoning.text', signature: 'sig' }),
      piece({ type: 'reasoning.encrypted', data: 'a', id: '1' }),
      piece({ type: 'reasoning.encrypted', data: 'b', id: '2' }),
      delta({ content: 'Hi' }, 'stop'),
    ])
    expect(finish().thinking?.parts).toEqual([
      { index: 0, type: 'reasoning.text', text: 'Let me look', signature: 'sig' },
      { index: 0, type: 'reasoning.encrypted', data: 'a', id: '1' },
      { index: 0, type: 'reasoning.encrypted', data: 'b', id: '2' },
    ])
  })

  it.each([
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: 0, completion_tokens: 3 },
    { prompt_tokens: -1, completion_tokens: 3 },
  ])('has no usage where its provider says %j', usage => {
    expect(read([{ ...delta({ content: 'Hi' }, 'stop'), usage }]).finish()).not.toHaveProperty('usage')
  })

  it('tells how far it is', () => {
    expect(read([delta({ content: 'Hi' })]).reader.isWhole).toBe(false)
    expect(read([END]).reader.isWhole).toBe(true)
  })
})

describe('what of a reply has begun', () => {
  it.each([
    { what: 'nothing', chunks: [{}, delta({ role: 'assistant', content: '' })], begun: undefined },
    { what: 'text', chunks: [delta({ content: '<think>so' })], begun: { written: '<think>so' } },
    { what: 'a thought', chunks: [delta({ reasoning_content: 'so' })], begun: { written: 'so' } },
    { what: 'a call', chunks: [delta(call('a', 'f', '{"x"'))], begun: { written: 'f{"x"' } },
    {
      what: 'usage',
      chunks: [{ choices: [], usage: { prompt_tokens: 7, completion_tokens: 0 } }],
      begun: { written: '', usage: { input: 7, output: 0, cachedInput: 0 } },
    },
  ])('$what', ({ chunks, begun }) => {
    expect(begunOf(read(chunks).reader)).toEqual(begun)
  })
})

describe('a broken reply', () => {
  const error = (run: () => unknown) => {
    try {
      run()
    } catch (thrown) {
      return thrown as ModelError
    }
    throw new Error('nothing was thrown')
  }

  it.each([7, null])('holds %j', chunk => {
    expect(error(() => read([delta({ content: 'Hel' }), chunk]))).toMatchObject({ kind: 'broken_stream' })
  })

  it('is whole all the same where rubbish follows its reason to end', () => {
    expect(read([delta({ content: 'Hi' }), END, null]).finish().text).toBe('Hi')
  })

  it.each([
    ['content_filter', 'rejected'],
    ['error', 'server'],
    ['insufficient_system_resource', 'server'],
  ])('ends by %s', (reason, kind) => {
    expect(error(read([delta({ content: 'Hel' }, reason)]).finish)).toMatchObject({ kind })
  })
})
