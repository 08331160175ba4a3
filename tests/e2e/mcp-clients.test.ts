import type { JsonSchemaType } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINES, openClient, type TestClient, textOf } from '../support/clients.ts'
import { type Configured, npmServer, odd, recorder, untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const HUB_TOOLS = [
  'hub_chat',
  'hub_list_agents',
  'hub_read_messages',
  'hub_list_threads',
  'hub_read_thread',
  'hub_read_call',
  'hub_explain_cycle',
  'hub_stop',
  'hub_reset',
  'hub_list_schedules',
  'hub_create_schedule',
  'hub_cancel_schedule',
  'hub_publish_event',
  'hub_list_events',
  'hub_list_approvals',
  'hub_explain_policy',
  'hub_list_allowances',
  'hub_revoke_allowance',
  'hub_list_dead_letters',
  'hub_retry_dead_letter',
  'hub_discard_dead_letter',
  'hub_search_history',
  'hub_status',
  'hub_release_agents',
  'hub_retry_model',
  'hub_accept_tools',
  'hub_read_server',
  'hub_read_server_log',
  'hub_add_server',
  'hub_change_server',
  'hub_restart_server',
  'hub_remove_server',
  'hub_restore_server',
  'hub_list_conversations',
  'hub_search_messages',
  'hub_change_conversation',
  'hub_delete_conversation',
  'hub_list_tokens',
  'hub_create_token',
  'hub_revoke_token',
  'hub_add_person',
  'hub_remove_person',
  'hub_read_agent',
  'hub_check_agent',
  'hub_write_agent',
  'hub_remove_agent',
  'hub_store_fact',
  'hub_remove_fact',
  'hub_read_config',
  'hub_find_models',
  'hub_try_model',
  'hub_set_model',
  'hub_list_programs',
  'hub_find_programs',
  'hub_try_program',
  'hub_set_program',
  'hub_set_notify',
  'hub_describe_client',
  'hub_describe_reach',
  'hub_allow_reach',
  'hub_link_device',
  'hub_list_audit',
  'hub_verify_audit',
  'hub_read_house',
]
const METRICS_TOOLS = ['get_system_metrics', 'get_processes', 'get_disk_health']

let hub: TestHub
let rec: Configured

beforeAll(async () => {
  rec = recorder()
  hub = await startTestHub({
    config: JSON.stringify({
      servers: { everything: npmServer('everything'), rec: rec.entry, odd: odd().entry },
    }),
  })
  await untilReady(hub, 'metrics', 'everything', 'rec', 'odd')
})

afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  rec[Symbol.dispose]()
  await untilNoChildren()
})

describe.each(LINES)('a client of %s at /mcp', line => {
  let client: TestClient

  beforeAll(async () => {
    client = await openClient(line, hub)
  })
  afterAll(() => client[Symbol.asyncDispose]())

  test('lists the tools of the hub and of every server, with schemas and names that everyone takes', async () => {
    const tools = await client.listTools()
    const names = tools.map(tool => tool.name)
    expect(names.slice(0, HUB_TOOLS.length + METRICS_TOOLS.length)).toEqual([...HUB_TOOLS, ...METRICS_TOOLS])
    expect(names).toEqual(expect.arrayContaining(['everything__echo', 'rec__wait', 'odd__pid']))
    expect(new Set(names).size).toBe(names.length)
    const validator = new AjvJsonSchemaValidator()
    for (const tool of tools) {
      expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(tool.inputSchema).toMatchObject({ type: 'object' })
      // The validator throws if the schema itself is invalid.
      for (const schema of [tool.inputSchema, tool.outputSchema])
        if (schema) validator.getValidator(schema as JsonSchemaType)
    }
    for (const tool of tools.slice(0, HUB_TOOLS.length + METRICS_TOOLS.length)) {
      expect(tool, tool.name).toMatchObject({
        description: expect.stringMatching(/\w/),
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: expect.any(Boolean) },
      })
    }
    expect(await client.listTools()).toEqual(tools)
  })

  test('calls tools of servers of either era, and gets what they say', async () => {
    expect(textOf(await client.call('everything__echo', { message: 'hi' }))).toBe('Echo: hi')
    const weather = await client.call('everything__get-structured-content', { location: 'New York' })
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) })
    const image = await client.call('everything__get-tiny-image')
    expect(image.content.map(block => block.type)).toContain('image')
    const metrics = await client.call('get_system_metrics')
    expect(metrics.structuredContent).toBeDefined()
    expect(metrics.isError).toBeFalsy()
  })

  test('gets every progress notification of a server, the last too', async () => {
    for (const tool of ['rec__count', 'odd__steps']) {
      const seen: unknown[] = []
      const result = await client.call(tool, { to: 3 }, { onProgress: one => seen.push(one.progress) })
      expect(result.isError).toBeFalsy()
      expect(seen, tool).toEqual([1, 2, 3])
    }
  })

  test('gets the tool activity of an agent as progress of hub_chat', async () => {
    const seen: (string | undefined)[] = []
    const result = await client.call(
      'hub_chat',
      { message: '/call everything__echo {"message":"from chat"}' },
      { onProgress: one => seen.push(one.message) },
    )
    expect(result.structuredContent).toMatchObject({
      conversation: 'homelab/mcp-owner',
      status: 'replied',
      reply: expect.stringContaining('Echo: from chat'),
    })
    expect(seen).toEqual(['everything__echo: started', 'everything__echo: ok'])
  })

  test('cancels a call, and the server below hears of it', async () => {
    const abort = new AbortController()
    const name = `by ${line}`
    const call = client.call('rec__wait', { name }, { signal: abort.signal })
    await rec.recorded(`started ${name}`)
    abort.abort()
    await expect(call).rejects.toThrow()
    await rec.recorded(`cancelled ${name}`)
    // Other clients of the same server are not disturbed.
    expect(hub.logs.all.filter(entry => entry.event === 'server_down')).toEqual([])
  })

  test('hears that the tools changed', async () => {
    const changes = await client.watchTools()
    const name = `grown-by-${line.replaceAll(/[ ,.]/g, '-')}`
    await client.call('rec__grow', { name })
    await changes.find('the change is told', () => true)
    expect((await client.listTools()).map(tool => tool.name)).toContain(`rec__${name}`)
    expect(textOf(await client.call(`rec__${name}`))).toBe(name)
  })

  test('is told what is wrong with arguments, by tool and argument', async () => {
    const wrong = await client.call('hub_create_schedule', { reason: 5, delays: '1m' })
    expect(wrong.isError).toBe(true)
    expect(textOf(wrong)).toMatch(/^hub_create_schedule: .*reason.*delays/s)
    const downstream = await client.call('everything__echo', { message: 5 })
    expect(downstream.isError).toBe(true)
    expect(textOf(downstream)).toMatch(/echo.*message/s)
    const metrics = await client.call('get_processes', { limit: 'many' })
    expect(metrics.isError).toBe(true)
    expect(textOf(metrics)).toMatch(/get_processes.*limit/s)
  })

  test('gets a protocol error for a tool that there is not', async () => {
    await expect(client.call('no_such_tool')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('There is no tool no_such_tool'),
    })
  })
})
