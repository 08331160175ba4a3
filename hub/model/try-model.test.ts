import { describe, expect, it } from 'vitest'
import { systemClock } from '../core/clock.ts'
import { type Model, ModelError, type ModelReply, type ModelRequest, type ModelTool } from '../core/model.ts'
import { type TrialOptions, tryModel } from './try-model.ts'

const reply = (fields: Partial<ModelReply>): ModelReply => ({
  text: '',
  calls: [],
  truncated: false,
  ...fields,
})
const tool = (name: string, fields: Partial<ModelTool> = {}): ModelTool => ({
  name,
  description: 'x'.repeat(400),
  inputSchema: { type: 'object', properties: {} },
  ...fields,
})
const TOOLS = [
  tool('stop_game_server'),
  tool('get_game', { readOnly: true, inputSchema: { type: 'object', required: ['name'] } }),
  tool('list_games', { readOnly: true }),
]
const estimate = (text: string) => Math.ceil(text.length / 4)

/** Counts as the estimate does, calls the tool it is told to and repeats its result: a good model. */
function goodReply(request: ModelRequest, onText: (text: string) => void): ModelReply {
  const input = estimate(JSON.stringify([request.system, request.tools, request.messages]))
  const usage = { input, output: 5, cachedInput: 0 }
  const last = request.messages.at(-1)
  if (last?.role !== 'tool') {
    const name = /tool (\w+) now/.exec(last?.text ?? '')?.[1] ?? ''
    return reply({ calls: [{ id: 'c1', name, arguments: '{}' }], usage })
  }
  for (const piece of ['The word is ', 'heron.']) onText(piece)
  return reply({ text: 'The word is heron.', usage })
}

function modelThat(change: (good: ModelReply, request: ModelRequest) => ModelReply = good => good) {
  const asked: ModelRequest[] = []
  const model: Model = {
    name: 'm',
    context: 32_768,
    maxOutput: 512,
    async complete(request, { onText }) {
      asked.push(request)
      return change(goodReply(request, onText), request)
    },
  }
  return { model, asked }
}

const trial = (model: Model, options: Partial<TrialOptions> = {}) =>
  tryModel(model, {
    system: 'You look after a homelab.',
    tools: TOOLS,
    timezone: 'UTC',
    estimate,
    clock: systemClock,
    signal: new AbortController().signal,
    ...options,
  })

describe('the trial of a model', () => {
  it('sends the prompt and all tools, and has a tool called that changes nothing', async () => {
    const { model, asked } = modelThat()
    const found = await trial(model)
    expect(found).toEqual([
      { level: 'ok', what: 'calls tools: 3 tools were offered' },
      { level: 'ok', what: "reads tools' results" },
      { level: 'ok', what: 'streams its reply' },
      { level: 'ok', what: expect.stringMatching(/^reads the whole request: \d+ tokens$/) },
    ])
    expect(asked).toHaveLength(2)
    for (const request of asked) {
      expect(request).toMatchObject({ system: 'You look after a homelab.', tools: TOOLS })
    }
    expect(asked[1]?.messages).toMatchObject([
      { role: 'user', text: expect.stringContaining('list_games') },
      { role: 'assistant', calls: [{ id: 'c1', name: 'list_games' }] },
      { role: 'tool', callId: 'c1', name: 'list_games', isError: false },
    ])
  })

  it('offers a tool of its own where no tool is harmless', async () => {
    const { model, asked } = modelThat()
    expect((await trial(model, { tools: [tool('stop_game_server')] }))[0]?.level).toBe('ok')
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(['stop_game_server', 'get_trial_word'])
  })

  it.each<[string, Partial<ModelReply>, RegExp]>([
    ['text in place of a call', { text: '{"name":"list_games"}', calls: [] }, /answered with text/],
    ['nothing', { calls: [] }, /answered nothing/],
    ['a reply that was cut', { text: 'Hm', calls: [], truncated: true }, /raise maxOutput/],
    [
      'another tool',
      { calls: [{ id: 'c', name: 'get_weather', arguments: '{}' }] },
      /called "get_weather", which it was not/,
    ],
    [
      'arguments that are no JSON',
      { calls: [{ id: 'c', name: 'list_games', arguments: '{"a":' }] },
      /no JSON object/,
    ],
  ])('finds %s', async (_, given, words) => {
    const found = await trial(modelThat(good => ({ ...good, ...given })).model, { server: 'vllm' })
    const what = expect.stringMatching(new RegExp(`${words.source}.*--enable-auto-tool-choice`))
    expect(found.at(-1)).toEqual({ level: 'problem', what })
  })

  it('finds that Ollama cuts requests, by a count that stays the same', async () => {
    const usage = { input: 4_096, output: 5, cachedInput: 0 }
    const many = Array.from({ length: 60 }, (_, index) => tool(`list_${index}`, { readOnly: true }))
    const found = await trial(modelThat(good => ({ ...good, usage })).model, {
      tools: many,
      server: 'ollama',
    })
    expect(found.at(-1)).toEqual({
      level: 'problem',
      what: expect.stringMatching(
        /cuts what it is sent: it counts 4096 tokens .*OLLAMA_CONTEXT_LENGTH=32768 .*num_ctx 32768/,
      ),
    })
  })

  it('compares what the server runs the model with, before it asks', async () => {
    const many = Array.from({ length: 100 }, (_, index) => tool(`list_${index}`, { readOnly: true }))
    const short = await trial(modelThat().model, {
      tools: many,
      reported: { context: 4_096, tools: false },
      server: 'lm-studio',
    })
    expect(short.slice(0, 2)).toEqual([
      {
        level: 'problem',
        what: expect.stringMatching(/context of 4096 tokens, and the prompt and 100 tools.*32768/),
      },
      { level: 'warning', what: expect.stringContaining('said not to call tools') },
    ])
    const less = await trial(modelThat().model, { reported: { context: 16_384 }, server: 'llama.cpp' })
    expect(less[0]).toEqual({
      level: 'warning',
      what: expect.stringMatching(/the hub sends up to 32768\. .*--ctx-size 32768/),
    })
  })

  it('warns of a long reply that comes in one piece', async () => {
    const whole = modelThat(good => good)
    whole.model.complete = async (request, { onText }) => {
      const good = goodReply(request, () => undefined)
      if (good.text === '') return good
      const text = `${good.text} ${'It is the word of the trial. '.repeat(4)}`
      onText(text)
      return { ...good, text }
    }
    expect((await trial(whole.model))[2]).toEqual({
      level: 'warning',
      what: expect.stringContaining('in one piece'),
    })
  })

  it('warns of what works only half', async () => {
    const silent = modelThat(({ usage, ...good }, { messages }) =>
      messages.length > 1 ? { ...good, text: `${'It is done. '.repeat(5)}` } : good,
    )
    expect(await trial(silent.model)).toEqual([
      expect.objectContaining({ level: 'ok' }),
      { level: 'warning', what: expect.stringContaining('shows nothing of it') },
      { level: 'ok', what: 'streams its reply' },
      { level: 'warning', what: expect.stringContaining('does not say how many tokens') },
    ])
    const again = modelThat(good => ({
      ...good,
      calls: [{ id: 'c', name: 'list_games', arguments: '' }],
      text: '',
    }))
    expect((await trial(again.model))[1]?.what).toMatch(/calls a tool again/)
  })
})

describe('a refused trial', () => {
  const refusing = (kind: ModelError['kind'], when: (request: ModelRequest) => boolean = () => true) =>
    modelThat((good, request) => {
      if (when(request)) throw new ModelError(kind, 'The provider refused.', { status: 400 })
      return good
    })

  it('tells a model without tools from one that does not answer at all', async () => {
    const noTools = refusing('rejected', ({ tools }) => tools.length > 0)
    expect(await trial(noTools.model, { server: 'ollama' })).toEqual([
      { level: 'problem', what: 'gives no answer. The provider refused.' },
      { level: 'problem', what: expect.stringMatching(/answers, but not when.*3 tools.*ollama show/) },
    ])
    expect(await trial(refusing('rejected').model)).toEqual([
      { level: 'problem', what: 'gives no answer. The provider refused.' },
    ])
    let isLost = true
    const closed = modelThat(good => {
      if (!isLost) return good
      isLost = false
      throw new ModelError('network', 'other side closed')
    })
    expect((await trial(closed.model)).filter(({ level }) => level === 'problem')).toEqual([])
    const locked = refusing('auth')
    expect(await trial(locked.model)).toEqual([
      { level: 'problem', what: 'gives no answer. The provider refused.' },
    ])
    expect(locked.asked).toHaveLength(1)
  })

  it('says how much context is needed', async () => {
    expect((await trial(refusing('overflow').model, { server: 'vllm' }))[0]?.what).toContain(
      '--max-model-len',
    )
  })

  it('is told of the turn after a result', async () => {
    const second = refusing('rejected', ({ messages }) => messages.length > 1)
    expect((await trial(second.model)).at(-1)?.what).toMatch(/refuses the turn after a tool's result/)
  })

  it('throws what is no answer of the provider, and the reason of an abort', async () => {
    const broken = modelThat(() => {
      throw new TypeError('a bug')
    })
    await expect(trial(broken.model)).rejects.toThrow('a bug')
    const stopped = AbortSignal.abort(new Error('too slow'))
    const aborted = modelThat(() => {
      throw stopped.reason
    })
    await expect(trial(aborted.model, { signal: stopped })).rejects.toThrow('too slow')
  })
})
