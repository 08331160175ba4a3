import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { inspectOverHttp, inspectOverStdio } from '../kit/testing/alone.ts'
import { assertFits } from '../kit/testing/server-world.ts'
import { metrics } from './server.ts'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))

test('the official inspector lists and calls it over stdio', { timeout: 60_000 }, async () => {
  const inspected = await inspectOverStdio(SERVER, {})
  expect(inspected.remarks).toBe('')
  expect(inspected.tools.map(({ name }) => name)).toContain('query_prometheus')
  const called = await inspected.call('get_system_metrics')
  const tool = inspected.tools.find(({ name }) => name === 'get_system_metrics')
  assertFits(tool?.outputSchema ?? {}, called['structuredContent'])
})

test('and over HTTP', { timeout: 60_000 }, async () => {
  await inspectOverHttp(metrics, {}, async ({ remarks, call }) => {
    expect(remarks).toBe('')
    const { structuredContent } = await call('get_processes', { name: 'node' })
    expect(structuredContent).toMatchObject({ processes: expect.any(Array) })
  })
})
