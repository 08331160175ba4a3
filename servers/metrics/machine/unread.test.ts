import { expect, test } from 'vitest'
import { createUnreadMachine } from './unread.ts'

test('a machine that is not Linux has a name, and says what to use instead of its figures', async () => {
  const machine = createUnreadMachine('mac', 'darwin')
  expect(await machine.about()).toMatchObject({ host: 'mac' })
  await expect(machine.memory()).rejects.toMatchObject({
    failure: { why: expect.stringContaining('darwin'), fix: expect.stringContaining('query_prometheus') },
  })
})
