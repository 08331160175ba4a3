import { describe, expect, it } from 'vitest'
import { type Model, ModelError, type ModelReply, type ModelRequest } from '../../core/model.ts'
import { probeTools } from './probe.ts'

function modelThat(complete: (request: ModelRequest) => Promise<ModelReply>): Model {
  return { name: 'm', context: 8192, maxOutput: 512, complete }
}

const signal = new AbortController().signal
const reply = (fields: Partial<ModelReply>): ModelReply => ({
  text: '',
  calls: [],
  truncated: false,
  ...fields,
})
const call = (name: string, args: string) => reply({ calls: [{ id: 'c', name, arguments: args }] })

describe('probeTools', () => {
  it('offers one tool and finds that it is called', async () => {
    const asked: ModelRequest[] = []
    const model = modelThat(async request => {
      asked.push(request)
      return call(request.tools[0]?.name ?? '', '{"value": 7}')
    })
    expect(await probeTools(model, { signal })).toEqual({ ok: true })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.tools).toHaveLength(1)
    expect(asked[0]?.messages[0]?.text).toContain(asked[0]?.tools[0]?.name)
  })

  it.each<[string, ModelReply, string]>([
    ['text in place of a call', reply({ text: '{"name":"report_number"}' }), 'answered with text'],
    ['a reply that was cut', reply({ text: 'hm', truncated: true }), 'maxOutput'],
    ['another tool', call('get_weather', '{}'), 'called "get_weather"'],
    ['arguments that are no JSON', call('report_number', '{"value":'), 'no JSON'],
    ['arguments of another shape', call('report_number', '{"value":"7"}'), 'do not fit'],
    ['arguments that are no object', call('report_number', '7'), 'do not fit'],
  ])('says so of %s', async (_, given, why) => {
    const result = await probeTools(
      modelThat(async () => given),
      { signal },
    )
    expect(result).toEqual({ ok: false, why: expect.stringContaining(why) })
  })

  it.each<[ModelError, string]>([
    [new ModelError('rejected', 'does not support tools', { status: 400 }), 'may know no tools'],
    [new ModelError('auth', 'refused the key', { status: 401 }), 'refused the key'],
  ])('says what the provider refused: %s', async (error, why) => {
    const result = await probeTools(
      modelThat(() => Promise.reject(error)),
      { signal },
    )
    expect(result).toEqual({ ok: false, why: expect.stringContaining(why) })
  })

  it('throws what is no answer of the provider', async () => {
    const model = modelThat(() => Promise.reject(new TypeError('a bug')))
    await expect(probeTools(model, { signal })).rejects.toThrow('a bug')
  })

  it("throws the signal's reason", async () => {
    const stop = AbortSignal.abort('stop')
    const model = modelThat(() => Promise.reject(stop.reason))
    await expect(probeTools(model, { signal: stop })).rejects.toBe('stop')
  })
})
