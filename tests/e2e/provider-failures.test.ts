import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { makePng } from '../support/make-png.ts'
import {
  ask,
  delta,
  failure,
  type Handler,
  HELLO,
  KEY,
  line,
  live,
  manualClock,
  openModel,
  refuse,
  request,
  SSE,
  serve,
  stream,
} from '../support/provider.ts'

/**
 * Waits until all connections are closed: after a cut, the platform opens one for the next request and soon
 * closes it.
 */
async function allClosed({ sockets, events }: Awaited<ReturnType<typeof serve>>) {
  while (sockets.open > 0) await once(events, 'closed')
}

describe('against providers that fail', () => {
  it('names a provider that is not there', async () => {
    const { url } = await serve(stream('')).then(async server => {
      await server[Symbol.asyncDispose]()
      return server
    })
    const error = await failure(ask(openModel(url), 'hi'))
    expect(error).toMatchObject({ kind: 'network', retryable: true })
    expect(error.message).toBe(
      `The provider at ${url} cannot be reached (ECONNREFUSED). Check that it runs, and that this is its address.`,
    )
  })

  it.each([
    ['an address that is none', 'gpu.lan'],
    ['neither http nor https', 'ftp://127.0.0.1:1/v1'],
    ['a user in the address', `http://user:${KEY}@127.0.0.1:1/v1`],
  ])('refuses %s', async (_, url) => {
    expect(await failure(ask(openModel(url), 'hi'))).toMatchObject({ kind: 'rejected' })
  })

  it('refuses a key that no header can carry', async () => {
    await using server = await serve(stream(HELLO))
    const error = await failure(ask(openModel(server.url, { apiKey: `${KEY}\n${KEY}` }), 'hi'))
    expect(error.message).toContain('OPENAI_API_KEY')
    expect(server.bodies).toEqual([])
  })

  it.each([
    [
      'reset before the response',
      (response: ServerResponse) => response.socket?.resetAndDestroy(),
      'network',
    ],
    [
      'cut in the reply',
      (response: ServerResponse) =>
        response.writeHead(200, SSE).write(HELLO.slice(0, 90), () => response.socket?.destroy()),
      'broken_stream',
    ],
    ['ended in the reply', stream(line(delta({ content: 'Hel' }))), 'broken_stream'],
    ['ended in a chunk', stream(HELLO.slice(0, 90)), 'broken_stream'],
    ['empty', stream(''), 'broken_stream'],
  ])('throws for a response that is %s', async (_, handle, kind) => {
    await using server = await serve(handle as Handler)
    expect(await failure(ask(openModel(server.url), 'hi'))).toMatchObject({ kind, retryable: true })
  })

  it('keeps a whole reply whose connection is cut before its usage', async () => {
    const whole = [delta({ content: 'Hi' }), delta({}, 'stop')].map(line).join('')
    await using server = await serve(response => {
      response.writeHead(200, SSE).write(`${whole}data: {"usage`, () => response.socket?.destroy())
    })
    expect((await ask(openModel(server.url), 'hi')).reply.text).toBe('Hi')
  })

  it('throws for an error within the stream', async () => {
    const text = line(delta({ content: 'Hel' })) + line({ error: { code: 503, message: 'overloaded' } })
    await using server = await serve(stream(text))
    const error = await failure(ask(openModel(server.url), 'hi'))
    expect(error).toMatchObject({ kind: 'server', status: 503 })
    expect(error.message).toContain('overloaded')
  })

  it.each([
    [{ error: { message: 'slow down', code: 429 } }, 'rate_limit', 429],
    [{ error: 'model runner crashed' }, 'server', undefined],
    [{ ...delta({}, 'error'), error: { code: 502, message: 'upstream' } }, 'server', 502],
    [{ error: { code: 'context_length_exceeded' } }, 'overflow', undefined],
  ])('throws for the error %j within the stream', async (chunk, kind, status) => {
    await using server = await serve(stream(line(delta({ content: 'Hel' })) + line(chunk)))
    const error = await failure(ask(openModel(server.url), 'hi'))
    expect(error).toMatchObject({ kind, status, begun: { written: 'Hel' } })
  })

  it.each(['{"choices":', 'rubbish'])('tells what is no JSON in a stream: %s', async data => {
    await using server = await serve(stream(`${line(delta({ content: 'Hel' }))}data: ${data}\n\n${HELLO}`))
    expect(await failure(ask(openModel(server.url), 'hi'))).toMatchObject({ kind: 'broken_stream' })
    const whole = line(delta({ content: 'Hi' }, 'stop'))
    await using late = await serve(stream(`${whole}data: ${data}\n\n`))
    expect((await ask(openModel(late.url), 'hi')).reply.text).toBe('Hi')
  })

  it('throws for an event named error', async () => {
    await using server = await serve(stream('event: error\ndata: {"message":"bad key","status":401}\n\n'))
    expect(await failure(ask(openModel(server.url), 'hi'))).toMatchObject({ kind: 'auth', status: 401 })
  })

  it('reads Retry-After as a date', async () => {
    await using server = await serve(response =>
      refuse(response, 429, {}, { 'retry-after': 'Sat, 21 Nov 2026 22:01:30 GMT' }),
    )
    const { clock } = manualClock()
    expect(await failure(ask(openModel(server.url, { clock }), 'hi'))).toMatchObject({ retryAfter: 90_000 })
  })

  it('tells a web page from a provider', async () => {
    await using server = await serve(response => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>')
    })
    const error = await failure(ask(openModel(server.url), 'hi'))
    expect(error).toMatchObject({ kind: 'rejected' })
    expect(error.message).toContain('web page')
  })

  it('lets through what onText throws, and hangs up', async () => {
    await using server = await serve(response => void response.writeHead(200, SSE).write(HELLO.slice(0, 90)))
    const closed = once(server.events, 'closed')
    const bug = new Error('a bug of the caller')
    const onText = () => {
      throw bug
    }
    await expect(openModel(server.url).complete(request('hi'), { signal: live(), onText })).rejects.toBe(bug)
    await closed
  })
})

describe('against providers that hang', () => {
  it('gives up where no response begins, and hangs up', async () => {
    await using server = await serve(() => undefined)
    const { clock, fire, timers } = manualClock()
    const [asked, closed] = [once(server.events, 'request'), once(server.events, 'closed')]
    const failed = failure(ask(openModel(server.url, { clock }), 'hi'))
    await asked
    fire(5 * 60_000)
    const error = await failed
    expect(error).toMatchObject({ kind: 'network' })
    expect(error.message).toContain('did not answer within 5 min')
    await closed
    expect(timers.size).toBe(0)
  })

  it('gives up where a reply stalls, and hangs up', async () => {
    await using server = await serve(response => void response.writeHead(200, SSE).write(HELLO.slice(0, 90)))
    const { clock, fire, timers, armed } = manualClock()
    const closed = once(server.events, 'closed')
    const failed = failure(ask(openModel(server.url, { clock }), 'hi'))
    await armed(120_000, 2)
    fire(120_000)
    const error = await failed
    expect(error).toMatchObject({ kind: 'network' })
    expect(error.message).toContain('sent nothing for 2 min')
    await closed
    expect(timers.size).toBe(0)
  })

  it('does not wait for a provider that stays connected after [DONE]', async () => {
    await using server = await serve(response => void response.writeHead(200, SSE).write(HELLO))
    const { clock, fire, armed } = manualClock()
    const closed = once(server.events, 'closed')
    const asked = ask(openModel(server.url, { clock }), 'hi')
    await armed(100)
    fire(100)
    expect((await asked).reply.text).toBe('Hello')
    await closed
  })

  it('stops before the response, leaving no socket', async () => {
    await using server = await serve(() => undefined)
    const [asked, closed] = [once(server.events, 'request'), once(server.events, 'closed')]
    const stop = new AbortController()
    const reason = new Error('a person said stop')
    const stopped = expect(ask(openModel(server.url), 'hi', stop.signal)).rejects.toBe(reason)
    await asked
    stop.abort(reason)
    await stopped
    await closed
    await allClosed(server)
  })

  it('stops in the reply, leaving no socket', async () => {
    await using server = await serve(response => void response.writeHead(200, SSE).write(HELLO.slice(0, 90)))
    const closed = once(server.events, 'closed')
    const stop = new AbortController()
    const onText = () => stop.abort('stop')
    await expect(openModel(server.url).complete(request('hi'), { signal: stop.signal, onText })).rejects.toBe(
      'stop',
    )
    await closed
    await allClosed(server)
  })

  it('stops although the reply is whole', async () => {
    await using server = await serve(stream(HELLO))
    const stop = new AbortController()
    const onText = () => stop.abort('stop')
    await expect(openModel(server.url).complete(request('hi'), { signal: stop.signal, onText })).rejects.toBe(
      'stop',
    )
  })

  it('does not begin where it is stopped already', async () => {
    await using server = await serve(stream(HELLO))
    await expect(ask(openModel(server.url), 'hi', AbortSignal.abort('stop'))).rejects.toBe('stop')
    expect(server.bodies).toEqual([])
  })
})

it('cuts a reply that goes on beyond its limit, and pays for what came', async () => {
  await using server = await serve(response => {
    response.writeHead(200, SSE)
    for (let piece = 0; piece < 40; piece++) response.write(line(delta({ content: 'word '.repeat(100) })))
  })
  const error = await failure(ask(openModel(server.url), 'hi'))
  expect(error).toMatchObject({ kind: 'rejected', begun: { written: expect.stringContaining('word word') } })
  expect(error.message).toContain('wrote far more than the 256 tokens that a reply may have')
})

it('lets a model think beyond that limit, which some do not count, but not without end', async () => {
  let thoughts = 10
  const thought = line(delta({ reasoning_content: 'hm '.repeat(1000) }))
  await using server = await serve(response =>
    stream(thought.repeat(thoughts) + HELLO)(response, '', response.req),
  )
  const model = openModel(server.url)
  expect((await ask(model, 'hi')).reply.thinking?.text).toHaveLength(30_000)
  thoughts = 200
  expect(await failure(ask(model, 'hi'))).toMatchObject({ kind: 'rejected', begun: {} })
})

it('promise 13: a picture that the model refuses is told in words from then on', async () => {
  await using server = await serve((response, body, call) => {
    if (body.includes('image_url')) return refuse(response, 400, { message: 'Bad Request' })
    return stream(HELLO)(response, body, call)
  })
  const model = openModel(server.url, { vision: true })
  const images = [{ mimeType: 'image/png', data: makePng(40, 30) }]
  const asked = request('', { messages: [{ role: 'user', text: 'what is this?', items: [], images }] })
  for (let time = 0; time < 2; time++) expect((await ask(model, asked)).reply.text).toContain('Hello')
  expect(server.bodies.at(-1)).toContain('40×30')
  expect(server.bodies.filter(body => body.includes('image_url')).length).toBeLessThanOrEqual(2)
  expect(model.quirks?.().map(({ what }) => what)).toEqual(['is told of pictures in words'])
})

it('tells what was thought and said of a reply that its caller cuts', async () => {
  await using server = await serve(response => {
    response.writeHead(200, SSE).write(line(delta({ reasoning_content: 'hm, let me see' })))
    response.write(line(delta({ content: 'Well' })))
  })
  const stop = new AbortController()
  const cut: string[] = []
  const asked = openModel(server.url).complete(request('hi'), {
    signal: stop.signal,
    onText: () => stop.abort('stop'),
    onCut: ({ written }) => cut.push(written),
  })
  await expect(asked).rejects.toBe('stop')
  expect(cut).toEqual(['hm, let me seeWell'])
})
