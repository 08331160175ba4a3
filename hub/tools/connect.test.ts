import { expect, test } from 'vitest'
import { createHttpServer } from '../../tests/support/http-servers.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { connectServer } from './connect.ts'

test('a verdict that cannot be saved is warned of, and the connection is used all the same', async () => {
  await using server = createHttpServer('legacy')
  await server.start(['one'])
  const lines: string[] = []
  const { client, transport } = await connectServer(
    {
      name: 'remote',
      origin: 'config',
      prefix: '',
      transport: { kind: 'http', url: server.url, headers: {} },
    },
    {
      clock: systemClock,
      log: createLog({ level: 'warn', now: () => 0, write: line => lines.push(line) }),
      eras: {
        read: async () => 'auto',
        save: async () => {
          throw new Error('The disk is full')
        },
      },
      authorization: undefined,
      version: '1',
      timeout: 20_000,
      callTimeout: 20_000,
      told: { onStarted: () => () => undefined, onStderr: () => undefined, onGone: () => undefined },
      hooks: { onNotice: () => undefined },
    },
    () => undefined,
    new AbortController().signal,
  )
  expect(transport).toBe('http')
  expect(server.sessions).toBe(1)
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { level: 'warn', event: 'era_not_saved', verdict: 'legacy', error: 'The disk is full' },
  ])
  await client.close()
  expect(server.sessions).toBe(0)
})
