import { describe, expect, it } from 'vitest'
import { type Model, ModelError, type ModelRequest } from '../../core/model.ts'
import type { AskOptions, Provider } from '../adapter.ts'
import type { ShapedRequest } from '../form/form.ts'
import { providers } from '../providers/index.ts'
import { createRepairingModel } from './repairing-model.ts'

const WEEK = 7 * 24 * 3_600_000
const NAMES = ['a_1', 'a_2', 'a_3', 'a_4', 'a_5', 'a_6', 'a_7', 'a_8']

interface Sent {
  tools: string[]
  without: readonly string[]
  flat: boolean
}

const refused = (fields: object = {}, status = 400) =>
  new ModelError('rejected', 'refused', { status, refusal: { status, ...fields } })

/** Makes a model whose provider refuses the requests for which `refuse` returns an error. */
function world(refuse: (sent: Sent) => Error | undefined) {
  const sent: Sent[] = []
  const stored = new Map<string, unknown>()
  let now = 1_000
  const provider: Provider = {
    optional: ['stream_options'],
    form: providers.compatible.form,
    open:
      async () =>
      async (request: ShapedRequest, { without }: AskOptions) => {
        const one = {
          tools: request.tools.map(({ name }) => name),
          without,
          flat: !request.messages.some(({ role }) => role === 'tool'),
        }
        sent.push(one)
        const error = refuse(one)
        if (error) throw error
        return { text: 'ok', calls: [], truncated: false }
      },
  }
  const entry = {
    provider: 'compatible',
    baseUrl: 'http://h',
    model: 'm',
    context: 10_000,
    maxOutput: 100,
    vision: false,
  }
  const clock = { now: () => now, monotonic: () => 0, after: () => () => undefined }
  const open = () =>
    createRepairingModel(provider, entry, {
      clock,
      quirks: {
        load: async key => stored.get(key),
        save: async (key, value) => void stored.set(key, JSON.parse(JSON.stringify(value))),
      },
    })
  return { sent, open, stored, pass: (ms: number) => (now += ms) }
}

function ask(model: Model, fields: Partial<ModelRequest> = {}) {
  const tools = NAMES.map(name => ({ name, description: '', inputSchema: { type: 'object' } }))
  const request: ModelRequest = {
    system: 'You are',
    messages: [{ role: 'user', text: 'hi', items: [] }],
    tools,
    maxOutput: 100,
    timezone: 'UTC',
    now: 0,
    ...fields,
  }
  return model.complete(request, { signal: new AbortController().signal, onText: () => undefined })
}

describe('a model whose requests are refused', () => {
  it('leaves out what is named, remembers it for a week, and says so with the date', async () => {
    const { sent, open, pass } = world(({ without }) =>
      without.includes('temperature') ? undefined : refused({ param: 'temperature' }),
    )
    const model = open()
    await ask(model)
    await ask(model)
    expect(sent.map(({ without }) => without)).toEqual([[], ['temperature'], ['temperature']])
    expect(model.quirks?.()).toEqual([
      { model: 'm', what: 'is asked without the parameter temperature', since: 1_000 },
    ])
    const again = open()
    await ask(again)
    expect(sent.at(-1)?.without).toEqual(['temperature'])
    pass(WEEK)
    expect(again.quirks?.()).toEqual([])
    await ask(again)
    expect(sent.slice(-2).map(({ without }) => without)).toEqual([[], ['temperature']])
  })

  it('takes back guesses that change nothing, and keeps no one of them', async () => {
    const { sent, open, stored } = world(({ tools }) => (tools.includes('a_6') ? refused() : undefined))
    const model = open()
    await ask(model)
    expect(sent).toMatchObject([
      { tools: NAMES, without: [] },
      { tools: NAMES, without: ['stream_options'] },
      { tools: NAMES.slice(4), without: [] },
      { tools: NAMES.slice(0, 4), without: [] },
    ])
    expect(JSON.stringify([...stored.values()])).not.toContain('stream_options')
  })

  it('blames no tool whose call in the history is what is refused', async () => {
    const { open } = world(({ flat }) =>
      flat ? undefined : refused({ said: 'The call `a_6` has no signature' }),
    )
    const model = open()
    await ask(model, {
      messages: [
        { role: 'user', text: 'hi', items: [] },
        { role: 'assistant', text: '', calls: [{ id: '1', name: 'a_6', arguments: '{}' }] },
        { role: 'tool', callId: '1', name: 'a_6', text: 'ok', isError: false },
      ],
    })
    expect(model.quirks?.().map(({ what }) => what)).not.toContain('refuses the tool a_6')
  })

  it('finds the one refused tool by the requests that follow', async () => {
    const { sent, open } = world(({ tools }) => (tools.includes('a_6') ? refused() : undefined))
    const model = open()
    for (const _ of Array(8)) await ask(model)
    expect(sent.at(-1)?.tools).toEqual(NAMES.filter(name => name !== 'a_6'))
    expect(model.quirks?.().map(({ what }) => what)).toEqual(['refuses the tool a_6'])
    const count = sent.length
    await ask(model)
    expect(sent.length).toBe(count + 1)
  })

  it('finds several refused tools, which are in both halves', async () => {
    const { open } = world(({ tools }) =>
      tools.includes('a_2') || tools.includes('a_6') ? refused({ param: 'tools' }) : undefined,
    )
    const model = open()
    for (const _ of Array(16)) await ask(model)
    const what = model.quirks?.().map(one => one.what)
    expect(what).toContain('refuses the tool a_2')
    expect(what).toContain('refuses the tool a_6')
  })

  it('gives up after five changes with the refusal', async () => {
    const { sent, open, stored } = world(() => refused({ param: `p${sent.length}` }))
    await expect(ask(open())).rejects.toMatchObject({ kind: 'rejected' })
    expect(sent).toHaveLength(6)
    expect(stored.size).toBe(0)
  })

  it.each([
    new ModelError('server', 'overloaded', { status: 529 }),
    new ModelError('rate_limit', 'slow', { status: 429 }),
    refused({}, 404),
    new ModelError('overflow', 'long', { status: 400, refusal: { status: 400 } }),
  ])('passes on what no change mends: %s', async error => {
    const { sent, open, stored } = world(() => error)
    await expect(ask(open())).rejects.toBe(error)
    expect([sent.length, stored.size]).toEqual([1, 0])
  })

  it('passes on the refusal of a reply that had begun', async () => {
    const error = refused()
    error.begun = { written: 'Hel' }
    const { sent, open } = world(() => error)
    await expect(ask(open())).rejects.toBe(error)
    expect(sent).toHaveLength(1)
  })
})
