import { expect, test } from 'vitest'
import { givesMetaTool, givesTool, isNamed } from './tool-access.ts'

const task = (...layers: string[][]) => ({ agent: ['*', '!stop_*'], task: layers })

test('a server’s tool needs the globs of the agent and of each maker', () => {
  expect(givesTool(['get_*'], 'get_it')).toBe(true)
  expect(givesTool(['get_*'], 'stop_it')).toBe(false)
  expect(givesTool(task(['*']), 'get_it')).toBe(true)
  expect(givesTool(task(['*']), 'stop_it')).toBe(false)
  expect(givesTool(task(['stop_it']), 'stop_it')).toBe(false)
  expect(givesTool(task(['get_*'], ['*']), 'list_it')).toBe(false)
  expect(givesTool(task(['get_*'], ['*', '!get_it']), 'get_it')).toBe(false)
})

test('an agent has every meta-tool but those that are taken away', () => {
  expect(givesMetaTool(['get_*'], 'create_task')).toBe(true)
  expect(givesMetaTool(['*', '!create_task'], 'create_task')).toBe(false)
})

test('a task has the harmless ones, and the others only where every maker names them', () => {
  expect(givesMetaTool(task(['get_*']), 'schedule_wake')).toBe(true)
  expect(givesMetaTool(task(['*', '!schedule_wake']), 'schedule_wake')).toBe(false)
  for (const name of ['create_task', 'schedule_cron', 'send_message']) {
    expect(givesMetaTool(task(['*']), name)).toBe(false)
    expect(givesMetaTool(task(['*', name]), name)).toBe(true)
    expect(givesMetaTool(task(['*', name], ['*']), name)).toBe(false)
    expect(givesMetaTool(task(['*'], ['*', name]), name)).toBe(false)
  }
  expect(givesMetaTool({ agent: ['*', '!send_message'], task: [['send_message']] }, 'send_message')).toBe(
    false,
  )
})

test('what is named by all', () => {
  expect(isNamed(['*'], 'store_context')).toBe(true)
  expect(isNamed(task(['store_context']), 'store_context')).toBe(true)
  expect(isNamed(task(['store_*']), 'store_context')).toBe(false)
  expect(isNamed(task(), 'store_context')).toBe(false)
})
