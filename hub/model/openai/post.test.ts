import { type AddressInfo, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
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
