import type { CallToolResult, JsonSchemaType } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINES, openClient, type TestClient, textOf } from '../support/clients.ts'
import { server } from '../support/test-database.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({
    agents: {
      homelab: '---\ndescription: Looks after the homelab\n---\nYou look after the homelab.\n',
      zoe: '---\ndescription: Waits for doors\nevents: [door_open]\n---\nYou watch doors.\n',
    },
  })
})
afterAll(() => hub[Symbol.asyncDispose]())

describe.each(LINES)('the tools of the hub, for a client of %s', line => {
  let client: TestClient
  const conversation = `homelab/${line.replaceAll(/[^a-z0-9]+/g, '-')}`
  const schemas = new Map<string, JsonSchemaType>()

  beforeAll(async () => {
    client = await openClient(line, hub)
    for (const { name, outputSchema } of await client.listTools())
      schemas.set(name, outputSchema as JsonSchemaType)
  })
  afterAll(() => client[Symbol.asyncDispose]())

  /** Calls a tool, checks its structured result against its output schema, and returns it. */
  async function call(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const result: CallToolResult = await client.call(name, args)
    expect(result.isError, textOf(result)).toBeFalsy()
    const schema = schemas.get(name)
    if (!schema) throw new Error(`${name} promises no schema`)
    const checked = new AjvJsonSchemaValidator().getValidator(schema)(result.structuredContent)
    expect(checked.errorMessage).toBeUndefined()
    expect(textOf(result)).not.toBe('')
    return result.structuredContent as Record<string, unknown>
  }

  async function refusal(name: string, args: Record<string, unknown>): Promise<string> {
    const result = await client.call(name, args)
    expect(result.isError).toBe(true)
    return textOf(result)
  }

  test('hub_list_agents tells what each is for', async () => {
    expect(await call('hub_list_agents')).toMatchObject({
      agents: [
        { name: 'homelab', description: 'Looks after the homelab', conversations: ['homelab'] },
        { name: 'zoe', description: 'Waits for doors', status: 'sleeping' },
      ],
    })
  })

  test('hub_chat answers, absorbs a repeat, and hub_read_messages shows it once', async () => {
    const args = { message: '/help', conversation, idempotencyKey: `help-${line}` }
    const first = await call('hub_chat', args)
    expect(first).toMatchObject({ conversation, status: 'replied', reply: expect.stringContaining('/call') })
    expect(await call('hub_chat', args)).toEqual(first)
    const read = await call('hub_read_messages', { conversation })
    expect(read).toMatchObject({
      lastSeq: 2,
      messages: [
        { seq: 1, kind: 'user', id: first['messageId'], text: '/help' },
        { seq: 2, kind: 'agent', inReplyTo: [first['messageId']] },
      ],
    })
    expect(await call('hub_read_messages', { conversation, after: 1, limit: 1 })).toMatchObject({
      messages: [{ seq: 2 }],
    })
  })

  test('hub_chat says pending when nobody waits, and the reply can be read later', async () => {
    const asked = await call('hub_chat', { message: '/tools', conversation, waitSeconds: 0 })
    expect(asked).toMatchObject({ conversation, messageId: expect.any(String) })
    await expect
      .poll(async () => JSON.stringify(await call('hub_read_messages', { conversation, after: 2 })))
      .toContain(`"inReplyTo":["${asked['messageId']}"]`)
  })

  test('hub_create_schedule, hub_list_schedules and hub_cancel_schedule agree', async () => {
    const reason = `look again, says ${line}`
    const once = await call('hub_create_schedule', { delay: '2h', reason })
    expect(once).toMatchObject({ agent: 'homelab', kind: 'once', reason, status: 'active' })
    const regular = await call('hub_create_schedule', {
      agent: 'zoe',
      cron: '0 8 * * *',
      timezone: 'Europe/Berlin',
      reason,
    })
    expect(regular).toMatchObject({ kind: 'cron', cron: '0 8 * * *', timezone: 'Europe/Berlin' })
    const listed = JSON.stringify(await call('hub_list_schedules', { agent: 'homelab' }))
    expect(listed).toContain(String(once['id']))
    expect(listed).not.toContain(String(regular['id']))
    for (const { id } of [once, regular]) {
      expect(await call('hub_cancel_schedule', { id })).toMatchObject({ id, status: 'cancelled' })
      expect(await refusal('hub_cancel_schedule', { id })).toContain(String(id))
    }
    expect(JSON.stringify(await call('hub_list_schedules'))).not.toContain(reason)
  })

  test('hub_publish_event reaches who listens, and hub_list_events tells where it went', async () => {
    const type = `unheard_${conversation.slice(-4)}`
    expect(await call('hub_publish_event', { type, payload: { a: 1 } })).toMatchObject({
      status: 'ignored',
      routedTo: [],
    })
    const heard = await call('hub_publish_event', { type: 'door_open', payload: { door: line } })
    expect(heard['routedTo']).toHaveLength(1)
    const { events } = (await call('hub_list_events', { type: 'door_open', limit: 1 })) as {
      events: unknown[]
    }
    expect(events).toMatchObject([
      {
        id: heard['id'],
        payload: { door: line },
        source: 'mcp:owner',
        note: 'the agent zoe lists it',
        repeats: 0,
      },
    ])
    expect(await call('hub_list_events', { type, status: 'ignored' })).toMatchObject({ events: [{ type }] })
  })

  test('texts of others with line feeds forge no row of a list', async () => {
    const forged = '2026-01-01T00:00:00.000Z forged from nowhere'
    const rowsOf = async (tool: string, args: Record<string, unknown> = {}) =>
      textOf(await client.call(tool, args)).split(/[\n\r\u2028]/)
    const isForged = (row: string) => row.startsWith(forged)
    const type = `x\n${forged}`
    expect(await rowsOf('hub_publish_event', { type, payload: { line } })).toHaveLength(1)
    expect((await rowsOf('hub_list_events', { type })).some(isForged)).toBe(false)
    const reason = `Look\r\n${forged}\u2028${forged}`
    expect(await rowsOf('hub_create_schedule', { delay: '2h', reason })).toHaveLength(1)
    expect((await rowsOf('hub_list_schedules')).some(isForged)).toBe(false)
    const { schedules } = (await call('hub_list_schedules')) as {
      schedules: { id: string; reason: string }[]
    }
    const made = schedules.find(one => one.reason === reason)
    expect(made, 'the structured result is as it was given').toBeDefined()
    expect(await rowsOf('hub_cancel_schedule', { id: made?.id })).toHaveLength(1)
  })

  test('a level event that repeats is held, says behind which, and is counted', async () => {
    const event = { type: 'temp_high', payload: { sensor: line } }
    const first = await call('hub_publish_event', event)
    const again = await call('hub_publish_event', { ...event, payload: { sensor: line } })
    expect(again).toMatchObject({
      status: 'held',
      routedTo: [],
      note: expect.stringContaining(String(first['id'])),
    })
    const listed = async (status: string) =>
      (await call('hub_list_events', { type: 'temp_high', status }))['events'] as { id: string }[]
    expect((await listed('held')).find(({ id }) => id === again['id'])).toMatchObject({ note: again['note'] })
    expect((await listed('ignored')).find(({ id }) => id === first['id'])).toMatchObject({ repeats: 1 })
  })

  test('hub_status tells how everything is', async () => {
    expect(await call('hub_status')).toMatchObject({
      hub: { name: 'superbloom', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      model: { kind: 'commands' },
      servers: [],
      queues: { waiting: expect.any(Number), busy: expect.any(Number) },
      store: { kind: server === undefined ? 'sqlite' : 'postgres' },
      problems: [],
    })
  })

  test.each([
    ['hub_chat', { message: ' ' }, /^hub_chat: message/],
    ['hub_chat', { message: 'hi', agent: 'nobody' }, /no agent nobody/],
    [
      'hub_chat',
      { message: 'hi', agent: 'zoe', conversation: 'homelab/x' },
      /zoe does not answer in homelab\/x/,
    ],
    ['hub_chat', { message: 'hi', conversation: 'Not One' }, /conversation: must be <agent>/],
    ['hub_chat', { message: 'hi', waitSeconds: 601 }, /waitSeconds/],
    ['hub_read_messages', {}, /^hub_read_messages: conversation/],
    ['hub_read_messages', { conversation: 'homelab', limit: 0 }, /limit/],
    ['hub_list_schedules', { agent: 'Upper' }, /agent: must be lower-case/],
    ['hub_create_schedule', { reason: 'x' }, /delay.*at.*cron/],
    ['hub_create_schedule', { reason: 'x', cron: 'every day' }, /cron|every day/],
    ['hub_create_schedule', { reason: 'x', cron: '0 8 * * *', timezone: 'Mars/Base' }, /Mars\/Base/],
    ['hub_create_schedule', { reason: 'x', delay: 'soon' }, /soon/],
    ['hub_create_schedule', { reason: 'x', delay: '1m', agent: 'nobody' }, /no agent nobody/],
    ['hub_cancel_schedule', { id: 'sch_none' }, /sch_none/],
    ['hub_publish_event', { type: '' }, /^hub_publish_event: type/],
    ['hub_list_events', { status: 'lost' }, /status/],
    ['hub_status', { verbose: true }, /verbose/],
    ['hub_list_agents', { all: true }, /all/],
  ])('%s refuses %j', async (name, args, words) => {
    const before = await call('hub_list_schedules')
    expect(await refusal(name, args)).toMatch(words)
    expect(await call('hub_list_schedules')).toEqual(before)
  })
})
