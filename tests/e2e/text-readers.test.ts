import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINES, openClient, textOf } from '../support/clients.ts'
import { npmServer, untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub

beforeAll(async () => {
  hub = await startTestHub({ config: JSON.stringify({ servers: { everything: npmServer('everything') } }) })
  await untilReady(hub, 'metrics', 'everything')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

/** The names of such clients, one of them behind a forwarder. */
const READERS = [
  'claude-code',
  'codex-mcp-client',
  'Visual Studio Code - Insiders',
  'github-copilot-developer',
]
const FORWARDED = 'claude-code (via mcp-remote 0.15.1)'

describe.each(LINES)('a client of %s that shows its model only the data of a result', line => {
  test.each([...READERS, FORWARDED])('%s gets the text of a built-in tool alone', async name => {
    await using client = await openClient(line, hub, name)
    const tools = await client.listTools()
    const metrics = tools.find(tool => tool.name === 'get_system_metrics')
    expect(metrics).toMatchObject({ inputSchema: { type: 'object' } })
    expect(metrics).not.toHaveProperty('outputSchema')
    const result = await client.call('get_system_metrics')
    expect(textOf(result)).toMatch(/CPU/)
    expect(result).not.toHaveProperty('structuredContent')
  })

  test('of other servers it gets the data too: their text may be a mere headline', async () => {
    await using client = await openClient(line, hub, 'claude-code')
    const result = await client.call('everything__get-structured-content', { location: 'New York' })
    expect(result.structuredContent).toMatchObject({ temperature: expect.any(Number) })
    expect((await client.call('hub_status')).structuredContent).toMatchObject({ servers: expect.any(Array) })
  })

  test('any other client gets both', async () => {
    await using client = await openClient(line, hub)
    const result = await client.call('get_system_metrics')
    expect(textOf(result)).toMatch(/CPU/)
    expect(result.structuredContent).toMatchObject({ cpu: { percent: expect.any(Number) } })
    const listed = (await client.listTools()).find(tool => tool.name === 'get_system_metrics')
    expect(listed).toHaveProperty('outputSchema')
  })
})
