import { expect, test } from 'vitest'
import { z } from 'zod'
import { openMetaTools } from '../../tests/support/meta-tools.ts'
import { HubError } from '../core/errors.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { defineMetaTool } from './meta-tool.ts'

const greet = (run: (name: string) => ToolOutcome) =>
  defineMetaTool({
    name: 'greet',
    title: 'Greet',
    description: 'Says hello',
    input: z.strictObject({ name: z.string().min(1), times: z.int().optional() }),
    run: (_tx, { name }) => Promise.resolve(run(name)),
  })

test('arguments are checked: what is wrong becomes a result that names it', async () => {
  await using tools = await openMetaTools({}, [greet(name => ({ text: `Hello ${name}`, isError: false }))])
  const call = (args: Record<string, unknown>) => tools.call('greet', args)
  expect(await call({ name: 'Alex' })).toEqual({ text: 'Hello Alex', isError: false })
  expect(await call({ name: 'Alex', times: null })).toEqual({ text: 'Hello Alex', isError: false })
  const wrong = await call({ times: 'x', nmae: 'Alex' })
  expect(wrong.isError).toBe(true)
  expect(wrong.text).toMatch(/^greet: wrong arguments: name: is missing .*; times: .*; nmae: no such key$/)
})

test('an error that may be shown becomes a result; any other is thrown', async () => {
  const throws = async (error: Error) => {
    const fails = greet(() => {
      throw error
    })
    await using tools = await openMetaTools({}, [fails])
    return await tools.call('greet', { name: 'x' })
  }
  expect(await throws(new HubError('not_found', 'nobody here'))).toEqual({
    text: 'greet: nobody here',
    isError: true,
  })
  await expect(throws(new TypeError('a bug'))).rejects.toThrow('a bug')
})

test('every meta-tool of the contract, with a schema and an honest word on what it changes', async () => {
  await using opened = await openMetaTools()
  const { tools } = opened
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
    ['read_file', false, true],
  ])
  for (const { description, inputSchema } of tools) {
    expect(description.length).toBeGreaterThan(20)
    expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
  }
})
