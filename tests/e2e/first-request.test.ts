import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { readFirstTools } from '../support/first-hub.ts'

/** Tokens of all tools of the five servers, as the default agent sends them with each request. */
const MOST_TOKENS = 5_500
const LIMIT = 120_000

/** The agent's tools besides the servers' tools. */
const OWN = [
  ...[
    'schedule_wake',
    'schedule_cron',
    'list_schedules',
    'cancel_schedule',
    'complete_task',
    'store_context',
  ],
  ...['get_context', 'create_task', 'list_tasks', 'cancel_task', 'send_message', 'search_history'],
  ...['read_messages', 'find_tools', 'call_tool'],
]

test('the tools of all five servers take at most 5,500 tokens of a request', { timeout: LIMIT }, async () => {
  const tools = await readFirstTools()
  const tokens = new Map(tools.map(tool => [tool.function.name, countTokens(JSON.stringify(tool))]))
  for (const own of OWN) expect(tokens.delete(own), own).toBe(true)
  const theirs = [...tokens].sort(([, a], [, b]) => b - a)
  expect(theirs).toHaveLength(43)
  const all = theirs.reduce((sum, [, each]) => sum + each, 0)
  expect(all, `the longest: ${theirs.slice(0, 8).join(' ')}`).toBeLessThanOrEqual(MOST_TOKENS)
})
