import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createLog } from '../core/log.ts'
import { listen } from './listen.ts'

test('so many connections are open at once and no more; where one ends the next comes in', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', now: () => 0, write: line => lines.push(line) })
  await using listening = await listen({
    host: '127.0.0.1',
    port: 0,
    onRequest: (_request, response) => void response.end('in'),
    log,
    mostConnections: 2,
  })
  const open = async () => {
    const socket = connect(listening.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const answered = once(socket, 'data').then(() => true)
    return { socket, isIn: await Promise.race([answered, once(socket, 'close').then(() => false)]) }
  }
  const [first, second] = [await open(), await open()]
  expect([first?.isIn, second?.isIn]).toEqual([true, true])
  expect([(await open()).isIn, (await open()).isIn]).toEqual([false, false])
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('too_many_connections')
  first?.socket.destroy()
  await expect.poll(async () => (await open()).isIn, { timeout: 20_000 }).toBe(true)
})
