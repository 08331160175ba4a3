import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ModelReply } from '../../hub/core/model.ts'
import {
  ask,
  delta,
  failure,
  HELLO,
  KEY,
  line,
  live,
  openModel,
  refuse,
  request,
  SSE,
  serve,
  stream,
} from '../support/provider.ts'

describe('against providers with quirks', () => {
  afterEach(() => vi.unstubAllEnvs())

  const call = (fields: object) => delta({ tool_calls: [fields] })
  const whole = (name: string, args: unknown) => ({ function: { name, arguments: args } })

  it.each<[string, string, Partial<ModelReply>]>([
    [
      'indexes left out, reason "stop"',
      [
        call({ id: 'a', ...whole('get_time', '{"zone":"UTC"}') }),
        call({ id: 'b', ...whole('get_time', { zone: 'CET' }) }),
        delta({}, 'stop'),
        '[DONE]',
      ]
        .map(line)
        .join(''),
      {
        calls: [
          { id: 'a', name: 'get_time', arguments: '{"zone":"UTC"}' },
          { id: 'b', name: 'get_time', arguments: '{"zone":"CET"}' },
        ],
      },
    ],
    [
      'ids left out',
      [
        call({ index: 0, ...whole('get_time', '') }),
        call({ index: 0, ...whole('', '{}') }),
        delta({}, 'tool_calls'),
      ]
        .map(line)
        .join(''),
      { calls: [{ id: `call_${(1_795_302_000_000).toString(36)}_1_0`, name: 'get_time', arguments: '{}' }] },
    ],
    [
      'comments and no [DONE]',
      `: WAIT\n\n${HELLO.replace('data: [DONE]\n\n', ': BYE\n\n')}`,
      { text: 'Hello' },
    ],
    ['no reason but [DONE]', [delta({ content: 'Hi' }), '[DONE]'].map(line).join(''), { text: 'Hi' }],
    ['CRLF', HELLO.replaceAll('\n', '\r\n'), { text: 'Hello' }],
    [
      'no blank line at the end',
      [delta({ content: 'Hi' }, 'stop')].map(line).join('').trimEnd(),
      { text: 'Hi' },
    ],
  ])('reads a stream with %s', async (_, text, expected) => {
    await using server = await serve(stream(text))
    const { reply } = await ask(openModel(server.url), 'hi')
    expect(reply).toEqual({ text: '', calls: [], truncated: false, ...expected })
  })

  it.each([1, 2, 3])('reads a character that is cut after %i bytes', async cut => {
    const parts = [delta({ content: 'Hi ' }), delta({ content: '🌱' }, 'stop'), '[DONE]'].map(line)
    const bytes = Buffer.from(parts.join(''))
    const at = bytes.indexOf('🌱') + cut
    const first = Promise.withResolvers<void>()
    await using server = await serve(async response => {
      response.writeHead(200, SSE).write(bytes.subarray(0, at))
      await first.promise
      response.end(bytes.subarray(at))
    })
    const options = { signal: live(), onText: () => first.resolve() }
    expect((await openModel(server.url).complete(request('hi'), options)).text).toBe('Hi 🌱')
  })

  it('reads one JSON document in place of a stream', async () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      tool_calls: [{ id: 'a', ...whole('get_time', '{}') }],
    }
    await using server = await serve(response => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }, null, 2))
    })
    expect((await ask(openModel(server.url), 'hi')).reply).toMatchObject({
      text: 'Hi',
      calls: [{ id: 'a', name: 'get_time', arguments: '{}' }],
    })
  })

  it('asks again without stream_options where they are refused, and remembers it', async () => {
    await using server = await serve((response, body, call) => {
      if (!body.includes('stream_options')) return stream(HELLO)(response, body, call)
      refuse(response, 400, { message: 'unknown field' })
    })
    const model = openModel(server.url)
    for (const _ of [1, 2]) expect((await ask(model, 'hi')).reply.text).toBe('Hello')
    expect(server.bodies.map(body => body.includes('stream_options'))).toEqual([true, false, false])
  })

  it('says max_completion_tokens where max_tokens is refused, and remembers it', async () => {
    await using server = await serve((response, body, message) => {
      if (!body.includes('"max_tokens"')) return stream(HELLO)(response, body, message)
      refuse(response, 400, { code: 'unsupported_parameter', param: 'max_tokens', message: 'use another' })
    })
    const model = openModel(server.url)
    for (const _ of [1, 2]) expect((await ask(model, 'hi')).reply.text).toBe('Hello')
    expect(server.bodies.map(body => JSON.parse(body).max_completion_tokens)).toEqual([undefined, 256, 256])
  })

  it('gives up on a 400 that has another cause, and remembers nothing', async () => {
    await using server = await serve(response => refuse(response, 400, { message: 'no such thing' }))
    const model = openModel(server.url)
    expect(await failure(ask(model, 'hi'))).toMatchObject({ kind: 'rejected', status: 400 })
    const first = server.bodies.splice(0)
    expect(first.map(body => [body.includes('stream_options'), body.includes('"tools"')])).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ])
    expect(await failure(ask(model, 'hi'))).toMatchObject({ kind: 'rejected', status: 400 })
    expect(server.bodies).toEqual(first)
  })

  it('does not ask for ever where every name of the limit is refused', async () => {
    await using server = await serve((response, body) => {
      const param = body.includes('"max_tokens"') ? 'max_tokens' : 'max_completion_tokens'
      refuse(response, 400, { code: 'unsupported_parameter', param })
    })
    expect(await failure(ask(openModel(server.url), 'hi'))).toMatchObject({ kind: 'rejected' })
    expect(server.bodies.length).toBeLessThanOrEqual(6)
  })

  it('sends the same bytes for the same history', async () => {
    await using server = await serve(stream(HELLO))
    const model = openModel(server.url)
    const first = request('hi')
    await ask(model, first)
    await ask(model, structuredClone(first))
    await ask(model, {
      ...first,
      messages: [...first.messages, { role: 'assistant', text: 'Hello', calls: [] }],
    })
    const messages = server.bodies.map(body => JSON.stringify(JSON.parse(body).messages).slice(0, -1))
    expect(server.bodies[1]).toBe(server.bodies[0])
    expect(messages[2]?.startsWith(messages[0] ?? '?')).toBe(true)
  })

  it.each([
    [undefined, 'Bearer none'],
    ['', 'Bearer none'],
    [` ${KEY}\n`, `Bearer ${KEY}`],
  ])('sends the key %j as %j, and nothing of the environment', async (apiKey, sent) => {
    vi.stubEnv('OPENAI_ORG_ID', 'org')
    vi.stubEnv('OPENAI_PROJECT_ID', 'project')
    await using server = await serve(stream(HELLO))
    await ask(openModel(server.url, { apiKey }), 'hi')
    expect(server.calls[0]?.headers.authorization).toBe(sent)
    expect(Object.keys(server.calls[0]?.headers ?? {}).filter(name => name.startsWith('openai-'))).toEqual([])
  })

  it('keeps its connections although the end comes after [DONE]', async () => {
    await using server = await serve(response => {
      response.writeHead(200, SSE).write(HELLO)
      setImmediate(() => response.end())
    })
    const model = openModel(server.url)
    for (const _ of Array(8)) await ask(model, 'hi')
    // A request that starts before the end of the one before needs another connection.
    expect(server.sockets.ever).toBeLessThanOrEqual(2)
  })

  it('goes where the provider says that it is, on the same server', async () => {
    await using server = await serve((response, ...rest) => {
      if (server.calls.length === 1) response.writeHead(307, { location: '/v2/chat/completions' }).end()
      else stream(HELLO)(response, ...rest)
    })
    expect((await ask(openModel(server.url), 'hi')).reply.text).toBe('Hello')
    expect(server.bodies[1]).toEqual(server.bodies[0])
  })

  it('sends nothing to another server where the provider says that it is there', async () => {
    await using there = await serve(stream(HELLO))
    await using here = await serve(response => {
      response.writeHead(308, { location: `${there.url}/chat/completions?key=1` }).end()
    })
    const error = await failure(ask(openModel(here.url), 'hi'))
    expect(error).toMatchObject({ kind: 'rejected', status: 308 })
    expect(error.message).toContain(`it is at ${there.url}/chat/completions now; if you trust that`)
    expect(there.calls).toEqual([])
  })

  it('throws at nobody else when it is stopped just as a reply ends', async () => {
    await using server = await serve(stream(HELLO))
    const model = openModel(server.url)
    for (const _ of Array(8)) {
      const stop = new AbortController()
      const onText = () => stop.abort('stop')
      await expect(model.complete(request('hi'), { signal: stop.signal, onText })).rejects.toBe('stop')
    }
    expect((await ask(model, 'hi')).reply.text).toBe('Hello')
  })
})

it.each([
  ['compatible', '/node_modules/openai/'],
  ['anthropic', '/node_modules/@ai-sdk/anthropic/'],
])('loads the package of %s at the first call, not before, and no other', async (provider, wanted) => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { NO_QUIRKS, openModel } = await import('./hub/model/create-model.ts')
    const { systemClock } = await import('./hub/core/clock.ts')
    const entry = { provider: '${provider}', baseUrl: 'none', model: 'm', context: 1, maxOutput: 1, vision: false }
    const model = await openModel(entry, { clock: systemClock, quirks: NO_QUIRKS })
    const packages = () => loaded.flatMap(url => /\\/node_modules\\/(openai|@ai-sdk\\/(?!provider)\\w+)\\//.exec(url)?.[0] ?? [])
    const before = packages()
    const request = { system: '', messages: [], tools: [], maxOutput: 1, timezone: 'UTC', now: 0 }
    await model.complete(request, { signal: new AbortController().signal, onText() {} }).catch(() => {})
    process.stdout.write(JSON.stringify([before, [...new Set(packages())]]))
  `
  const run = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect(JSON.parse(run.stdout)).toEqual([[], [wanted]])
})
