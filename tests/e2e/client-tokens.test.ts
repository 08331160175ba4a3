import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientToken } from '../../hub/cli/client-token.ts'
import { openClient } from '../support/clients.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub()
})
afterAll(() => hub[Symbol.asyncDispose]())

const tokenOf = (client: string) => clientToken({ url: hub.url, token: hub.token }, hub.dataFolder, client)

test('programs of one name that start at once share a token, which opens the hub', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf('desk')))
  expect(new Set(tokens).size).toBe(1)
  expect(readFileSync(join(hub.dataFolder, 'tokens', 'desk'), 'utf8').trim()).toBe(tokens[0])
  await using client = await openClient('sdk 2, legacy', { url: hub.url, token: tokens[0] ?? '' })
  expect((await client.call('hub_list_agents')).isError).not.toBe(true)
})

test('a token that could not be made leaves no file behind', async () => {
  const wrong = { url: hub.url, token: 'not-the-one' }
  await expect(clientToken(wrong, hub.dataFolder, 'other')).rejects.toMatchObject({ code: 'unauthorized' })
  expect(await tokenOf('other')).toMatch(/^sb_/)
})

test('who died while the token was made is replaced', async () => {
  writeFileSync(join(hub.dataFolder, 'tokens', 'late'), '')
  expect(await tokenOf('late')).toMatch(/^sb_/)
}, 60_000)
