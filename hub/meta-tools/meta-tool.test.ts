import { expect, test } from 'vitest'
import { z } from 'zod'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { HubError } from '../core/errors.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { createMetaTools } from './index.ts'
import { defineMetaTool, type MetaDeps } from './meta-tool.ts'

const context = {
  agent: 'homelab',
  thread: 'thr_homelab',
  cycle: 'cyc_1',
  conversation: null,
  now: 0,
  afterCommit: () => undefined,
}

const deps: MetaDeps = {
  newId: prefix => prefix,
  signals: { on: () => () => undefined, emit: () => undefined },
  timezone: 'UTC',
  agentsOf: () => [],
  agent: () => undefined,
}

const greet = (run: (name: string) => ToolOutcome) =>
  defineMetaTool({
    name: 'greet',
    title: 'Greet',
    description: 'Says hello',
    input: z.strictObject({ name: z.string().min(1), times: z.int().optional() }),
    run: (_tx, { name }) => Promise.resolve(run(name)),
  })(deps)

test('arguments are checked: what is wrong becomes a result that names it', async () => {
  await using store = await openTempStore()
  const tool = greet(name => ({ text: `Hello ${name}`, isError: false }))
  const call = (args: Record<string, unknown>) => store.write(tx => tool.run(tx, args, context))
  expect(await call({ name: 'Alex' })).toEqual({ text: 'Hello Alex', isError: false })
  expect(await call({ name: 'Alex', times: null })).toEqual({ text: 'Hello Alex', isError: false })
  const wrong = await call({ times: 'x', nmae: 'Alex' })
  expect(wrong.isError).toBe(true)
  expect(wrong.text).toMatch(/^greet: wrong arguments: name: is missing .*; times: .*; nmae: no such key$/)
})

test('an error that may be shown becomes a result; any other is thrown', async () => {
  await using store = await openTempStore()
  const throws = (error: Error) =>
    store.write(tx =>
      greet(() => {
        throw error
      }).run(tx, { name: 'x' }, context),
    )
  expect(await throws(new HubError('not_found', 'nobody here'))).toEqual({
    text: 'greet: nobody here',
    isError: true,
  })
  await expect(throws(new TypeError('a bug'))).rejects.toThrow('a bug')
})

test('every meta-tool of the contract, with a schema and an honest word on what it changes', () => {
  const tools = createMetaTools(deps)
  expect(tools.map(({ name, ends, readOnly }) => [name, ends, readOnly])).toEqual([
    ['schedule_wake', true, false],
    ['schedule_cron', false, false],
    ['list_schedules', false, true],
    ['cancel_schedule', false, false],
    ['complete_task', true, false],
    ['store_context', false, false],
    ['get_context', false, true],
    ['create_task', false, false],
    ['list_tasks', false, true],
    ['cancel_task', false, false],
    ['send_message', false, false],
    ['search_history', false, true],
    ['read_messages', false, true],
  ])
  for (const { description, inputSchema } of tools) {
    expect(description.length).toBeGreaterThan(20)
    expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
  }
})
