import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { createIssuerFinder } from './access-tokens.ts'

test('an issuer that does not answer is not waited for long', async () => {
  const asked = Promise.withResolvers<void>()
  const server = createServer(() => asked.resolve())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = createFakeClock()
  try {
    const found = createIssuerFinder(url, clock)()
    await asked.promise
    clock.advance(5_000)
    await expect(found).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('took longer than 5 s'),
    })
    expect(clock.timers).toBe(0)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
})
