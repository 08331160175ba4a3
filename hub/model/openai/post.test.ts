import { type AddressInfo, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createBrotliCompress, createDeflate, createGzip, createZstdCompress } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createPost, type Post } from './post.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok'

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

/** A provider that does so with each request, of which a connection has had so many before. */
async function listen(take: (socket: Socket, before: number) => void): Promise<Post> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    let before = 0
    socket.on('error', () => undefined).on('data', () => take(socket, before++))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  ended.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return createPost({ baseUrl, apiKey: '' }, '/chat/completions')
}

const ask = async (post: Post) => text((await post('{}', new AbortController().signal)).body)

test('a kept connection that the provider closes as the request comes is replaced', async () => {
  const post = await listen((socket, before) => {
    if (before === 0) socket.write(OK)
    else socket.destroy()
  })
  expect(await ask(post)).toBe('ok')
  expect(await ask(post)).toBe('ok')
})

test('a provider that closes every connection is asked once', async () => {
  let asked = 0
  const post = await listen(socket => {
    asked++
    socket.destroy()
  })
  await expect(ask(post)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(asked).toBe(1)
})

test('a request that is given up on a kept connection is not made again', async () => {
  const given = new AbortController()
  let asked = 0
  const post = await listen((socket, before) => {
    asked++
    if (before === 0) socket.write(OK)
    else given.abort()
  })
  expect(await ask(post)).toBe('ok')
  await expect(post('{}', given.signal)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(asked).toBe(2)
})

const ENCODINGS = [
  { encoding: 'gzip', create: createGzip },
  { encoding: 'x-gzip', create: createGzip },
  { encoding: 'deflate', create: createDeflate },
  { encoding: 'br', create: createBrotliCompress },
  { encoding: 'ZSTD', create: createZstdCompress },
]

function headOf(encoding: string, status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`
}

describe.each(ENCODINGS)(
  'a provider that answers in $encoding though it was asked not to',
  ({ encoding, create }) => {
    const flush = (encoder: ReturnType<typeof create>) => new Promise<void>(resolve => encoder.flush(resolve))

    test('is understood, each part as it comes', async () => {
      const encoder = create()
      const post = await listen(socket => {
        socket.write(headOf(encoding))
        encoder.pipe(socket)
        encoder.write('first')
        void flush(encoder)
      })
      const parts: string[] = []
      for await (const part of (await post('{}', new AbortController().signal)).body) {
        parts.push(String(part))
        if (parts.length === 1) encoder.end(' and last')
      }
      expect(parts.join('')).toBe('first and last')
      expect(parts[0]).toBe('first')
    })

    test('is not taken for whole where it was cut off', async () => {
      const encoder = create()
      const post = await listen(socket => {
        socket.write(headOf(encoding))
        encoder.on('data', part => socket.write(part))
        encoder.write('first')
        void flush(encoder).then(() => socket.end())
      })
      await expect(ask(post)).rejects.toThrow(/unexpected end|ended|incomplete/i)
    })

    test('may refuse so, too', async () => {
      const encoder = create()
      const post = await listen(socket => {
        socket.write(headOf(encoding, '400 Bad Request'))
        encoder.pipe(socket)
        encoder.end('{"error":{"message":"no such model"}}')
      })
      await expect(ask(post)).rejects.toThrow(/400.*no such model/)
    })
  },
)

test('an encoding that nobody knows is named', async () => {
  const post = await listen(socket => socket.end(`${headOf('sdch')}whatever`))
  await expect(ask(post)).rejects.toThrow('encoded as sdch')
})
