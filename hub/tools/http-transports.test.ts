import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createRecord } from '../../tests/support/until.ts'
import { createStreamableTransport } from './http-transports.ts'

/** A server whose stream ends at once and then cannot be opened so many times; `retry` is what it wants between. */
async function openServer(failures: number, retry: string) {
  const opened = createRecord<number>()
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202).end()
    const count = opened.all.length + 1
    opened.add(count)
    if (count > 1 && count <= failures + 1) return void response.writeHead(503).end()
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(retry)
    if (count === 1) response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    opened,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

test.each([
  ['by itself', ': hello\n\n', [1_000, 1_500, 2_250, 3_375, 6_000, 12_000]],
  ['also where the server wants it at once', 'retry: 0\n\n', [375, 750, 1_500, 3_000, 6_000, 12_000]],
])('a stream that fails again and again is opened ever more slowly, %s', async (_what, retry, delays) => {
  using server = await openServer(delays.length - 1, retry)
  const clock = createFakeClock()
  let broken = 0
  const transport = createStreamableTransport(
    { kind: 'http', url: server.url, headers: {} },
    { clock, authorization: undefined, onGone: () => undefined, onBroken: () => broken++ },
  )
  await transport.start()
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  let from = 0
  for (const delay of delays) {
    from = await clock.armed(delay, from)
    clock.advance(delay)
  }
  await server.opened.find('it is open again', count => count === delays.length + 1)
  expect(broken).toBe(delays.length)
  await transport.close()
  expect(clock.timers).toBe(0)
})
