import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openClient } from '../support/clients.ts'
import { odd } from '../support/downstream.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

interface Status {
  servers: { name: string; state: string }[]
}

test('an entry pins the era of a server that speaks both, and nothing else is tried', async () => {
  await using hub = await startTestHub({ config: 'servers: { metrics: false }\n' })
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const both = { command: process.execPath, args: [join(process.cwd(), 'servers/metrics/server.ts')] }
  const servers = {
    metrics: false,
    before: { ...both, era: 'legacy' },
    now: { ...both, era: 'modern' },
    never: { ...odd().entry, era: 'modern' },
  }
  hub.writeConfig(JSON.stringify({ servers }))
  const state = await until('all are settled', async () => {
    const { servers: all } = (await client.call('hub_status')).structuredContent as unknown as Status
    const isSettled = (name: string) => all.some(one => one.name === name && one.state !== 'starting')
    return ['before', 'now', 'never'].every(isSettled) && all
  })
  expect(state).toMatchObject([
    { name: 'before', state: 'ready', era: 'legacy' },
    { name: 'now', state: 'ready', era: 'modern' },
    { name: 'never', state: 'down', error: expect.stringMatching(/2026-07-28/) },
  ])
})
