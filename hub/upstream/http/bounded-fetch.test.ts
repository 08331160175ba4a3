import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../tests/support/until.ts'
import { systemClock } from '../../core/clock.ts'
import { createBoundedFetch } from './bounded-fetch.ts'

const stack: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of stack.splice(0)) await close()
})

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stack.push(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers without end, as fast as it is read; tells how much was written and whether the reader left. */
function endless(type: string, piece: string, status = 200) {
  const seen = { bytes: 0, left: false }
  const answer: RequestListener = (_request, response) => {
    response.writeHead(status, { 'Content-Type': type })
    response.on('close', () => {
      seen.left = true
    })
    const more = () => {
      if (response.destroyed) return
      seen.bytes += piece.length
      response.write(piece, () => setImmediate(more))
    }
    more()
  }
  return { answer, seen }
}

const fetchFrom = (url: string, onOverlong: () => void = () => undefined) =>
  createBoundedFetch(systemClock, onOverlong)(url)

test('an answer without end is an error, and is not read on', async () => {
  const { answer, seen } = endless('application/json', 'x'.repeat(64 * 1024))
  await expect(fetchFrom(await serve(answer))).rejects.toThrow('it sent a message over 10485760 bytes')
  await until('it is not read on', () => seen.left)
})

test.each([300, 500])('of a page with the status %i the beginning is read', async status => {
  const { answer, seen } = endless('text/html', 'x'.repeat(64 * 1024), status)
  const response = await fetchFrom(await serve(answer))
  expect(response.status).toBe(status)
  expect((await response.text()).length).toBe(64 * 1024)
  await until('it is not read on', () => seen.left)
})

test('an event without end is told, and its stream ends', async () => {
  const { answer, seen } = endless('text/event-stream', `data: ${'x'.repeat(64 * 1024)}\n`)
  let told = 0
  const response = await fetchFrom(await serve(answer), () => told++)
  await response.text()
  expect(told).toBe(1)
  await until('it is not read on', () => seen.left)
})

test('a flood of events is read slowly', async () => {
  const { answer, seen } = endless('text/event-stream', 'data: {}\n\n'.repeat(2_000))
  const response = await fetchFrom(await serve(answer))
  const reader = response.body?.getReader()
  const started = performance.now()
  let read = 0
  while (performance.now() - started < 1_000) read += (await reader?.read())?.value?.length ?? 0
  await reader?.cancel()
  // The limit is the first second's worth, and then four chunks of at most 64 KiB a second.
  expect(read).toBeLessThan(2 * 1024 * 1024)
  await until('it is not read on', () => seen.left)
})

test('what is within bounds comes as it is', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/none') return response.writeHead(204).end()
    return response
      .writeHead(202, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 's' })
      .end('{"a":1}')
  })
  const response = await fetchFrom(url)
  expect([response.status, response.headers.get('mcp-session-id'), await response.json()]).toEqual([
    202,
    's',
    { a: 1 },
  ])
  expect((await fetchFrom(`${url}/none`)).status).toBe(204)
})
