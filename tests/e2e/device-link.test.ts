import { readFileSync } from 'node:fs'
import { encode } from 'uqr'
import { expect, test } from 'vitest'
import { openClient, textOf } from '../support/clients.ts'
import { invite, signIn } from '../support/roles.ts'
import { startTestHub } from '../support/test-hub.ts'

const PUBLIC = 'http://192.168.1.20:8420'

test('a hub for its own machine alone says so, and makes no link that could not work', async () => {
  await using hub = await startTestHub()
  const before = readFileSync(hub.configFile, 'utf8')
  await using owner = await openClient('sdk 2, 2026-07-28', hub)
  const { structuredContent } = await owner.call('hub_describe_reach')
  expect(structuredContent).toMatchObject({ reach: { kind: 'alone' } })
  const { document } = structuredContent as { document: string }
  expect(readFileSync(document, 'utf8')).toContain('# On the phone')
  for (const [tool, why] of [
    ['hub_link_device', 'No other device reaches the hub yet'],
    ['hub_allow_reach', 'refuses no address'],
  ] as const) {
    const refused = await owner.call(tool)
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining(why)])
  }
  expect(readFileSync(hub.configFile, 'utf8')).toBe(before)
})

test('a device signs in once with the link, which its code has too; nobody but the owner makes one', async () => {
  await using hub = await startTestHub({ variables: { SUPERBLOOM_PUBLIC_URL: PUBLIC } })
  await using owner = await openClient('sdk 2, 2026-07-28', hub)
  const { structuredContent } = await owner.call('hub_link_device')
  const { link, code } = structuredContent as { link: string; code: string[] }
  expect(code).toEqual(encode(link, { border: 2 }).data.map(row => row.map(Number).join('')))
  const [address, secret] = link.split('/#token=')
  expect(address).toBe(PUBLIC)
  const enter = () =>
    fetch(`${hub.url}/session`, { method: 'POST', headers: { Authorization: `Bearer ${secret}` } })
  expect((await enter()).status).toBe(201)
  expect((await enter()).status).toBe(401)
  const rows = JSON.stringify(await owner.call('hub_list_audit', {}))
  expect(rows).not.toContain(secret)

  const token = await signIn(hub, await invite(hub, 'anna', 'member'))
  await using anna = await openClient('sdk 2, 2026-07-28', { url: hub.url, token })
  for (const tool of ['hub_describe_reach', 'hub_allow_reach', 'hub_link_device'])
    expect(textOf(await anna.call(tool)), tool).toMatch(/role member/)
})
