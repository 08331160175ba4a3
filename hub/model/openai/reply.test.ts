import { describe, expect, it } from 'vitest'
import { ModelError } from '../../core/model.ts'
import { createReplyReader } from './reply.ts'

const provider = { baseUrl: 'http://gpu.lan:8000/v1', apiKey: 'sk-secret', model: 'qwen3' }

/** The reply of a stream of chunks, and the text as it was shown. */
function read(chunks: unknown[], { taken = [] as string[] } = {}) {
  const shown: string[] = []
  const reader = createReplyReader({
    provider,
    onText: text => shown.push(text),
    makeId: position => `made_${position}`,
    taken: new Set(taken),
    isTool: () => true,
  })
  for (const chunk of chunks) {
    reader.take({ name: undefined, data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
    reader.show()
  }
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
      '[DONE]',
    ])
    expect(finish()).toEqual({
      text: 'Hello there',
      calls: [],
      usage: { input: 12, output: 3, cachedInput: 8 },
      truncated: false,
    })
    expect(shown).toEqual(['Hello', ' there'])
  })

  it('shows what came together as one piece, and nothing of it twice', () => {
    const shown: string[] = []
    const reader = createReplyReader({
      provider,
      onText: piece => shown.push(piece),
      makeId: String,
      taken: new Set(),
      isTool: () => true,
    })
    for (const content of ['a', 'b', 'c']) {
      reader.take({ name: undefined, data: JSON.stringify(delta({ content })) })
    }
    expect(shown).toEqual([])
    reader.show()
    reader.show()
    expect(shown).toEqual(['abc'])
    reader.take({ name: undefined, data: JSON.stringify(END) })
    expect(reader.finish().text).toBe('abc')
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
    expect(read([usage(1), { ...END, ...usage(2) }, '[DONE]']).finish().usage).toEqual({
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

  it('renames a call whose id the window has already', () => {
    const { calls } = read([delta(call('a', 'f', '{}')), END], { taken: ['a'] }).finish()
    expect(calls).toEqual([{ id: 'made_0', name: 'f', arguments: '{}' }])
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
    expect(reply.thinking?.text).toBe('hm')
    expect(reply.thinking?.by).toContain(' at http')
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

  it('ends with [DONE] alone, and nothing after it counts', () => {
    const { reader, finish } = read([
      delta({ content: 'Hi' }),
      '[DONE]',
      delta({ content: ' more' }),
      'rubbish',
    ])
    expect(reader.stage).toBe('done')
    expect(finish().text).toBe('Hi')
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
      thinking: { by: 'qwen3 at http://gpu.lan:8000/v1', text: '', extras: [extra_content, null] },
    })
  })

  it.each([
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: 0, completion_tokens: 3 },
    { prompt_tokens: -1, completion_tokens: 3 },
  ])('has no usage where its provider says %j', usage => {
    expect(read([{ ...delta({ content: 'Hi' }, 'stop'), usage }]).finish()).not.toHaveProperty('usage')
  })

  it('tells how far it is', () => {
    expect(read([delta({ content: 'Hi' })]).reader.stage).toBe('open')
    expect(read([END]).reader.stage).toBe('finished')
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
    expect(read(chunks).reader.begun).toEqual(begun)
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

  it('has neither a reason to end nor [DONE]', () => {
    expect(error(read([delta({ content: 'Hel' })]).finish)).toMatchObject({
      kind: 'broken_stream',
      retryable: true,
    })
  })

  it.each(['{"choices":', '7', 'null'])('holds %j', data => {
    expect(error(() => read([delta({ content: 'Hel' }), data]))).toMatchObject({ kind: 'broken_stream' })
  })

  it('is whole all the same where rubbish follows its reason to end', () => {
    expect(read([delta({ content: 'Hi' }), END, '{"usage":']).finish().text).toBe('Hi')
  })

  it.each([
    ['content_filter', 'rejected'],
    ['error', 'server'],
    ['insufficient_system_resource', 'server'],
  ])('ends by %s', (reason, kind) => {
    expect(error(read([delta({ content: 'Hel' }, reason)]).finish)).toMatchObject({ kind })
  })

  it.each([
    [{ error: { message: 'slow down', code: 429 } }, 'rate_limit', 429],
    [{ error: 'model runner crashed' }, 'server', undefined],
    [{ ...delta({}, 'error'), error: { code: 502, message: 'upstream' } }, 'server', 502],
    [{ error: { code: 'context_length_exceeded' } }, 'overflow', undefined],
  ])('holds the error %j', (chunk, kind, status) => {
    expect(error(() => read([delta({ content: 'Hel' }), chunk]))).toMatchObject({ kind, status })
  })

  it('holds an event named error', () => {
    const { reader } = read([])
    const thrown = error(() => reader.take({ name: 'error', data: '{"message":"bad key","status":401}' }))
    expect(thrown).toBeInstanceOf(ModelError)
    expect(thrown).toMatchObject({ kind: 'auth', status: 401 })
  })
})
