import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { untilReady } from '../support/downstream.ts'
import { DEFAULT_AGENT, FIVE_SERVERS } from '../support/five-servers.ts'
import { HELLO, serve, stream } from '../support/provider.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

/** All tools of the five servers together, as the agent that comes with the hub sends them with each request. */
const MOST_TOKENS = 5_500
const LIMIT = 120_000

/** What an agent has besides the servers' tools. */
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

interface Sent {
  tools: { function: { name: string } }[]
}

let hub: TestHub
let provider: Awaited<ReturnType<typeof serve>>

beforeAll(async () => {
  provider = await serve(stream(HELLO))
  hub = await startTestHub({
    config: JSON.stringify({ servers: FIVE_SERVERS }),
    agents: { homelab: DEFAULT_AGENT },
    variables: { SUPERBLOOM_MODEL: 'm', SUPERBLOOM_MODEL_CONTEXT: '65536', OPENAI_BASE_URL: provider.url },
  })
  for (const name of Object.keys(FIVE_SERVERS)) await untilReady(hub, name)
}, LIMIT)
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

test('the tools of all five servers take at most 5,500 tokens of a request', { timeout: LIMIT }, async () => {
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  await chat.ask('homelab', 'Is all well?')
  const { tools } = JSON.parse(provider.bodies[0] ?? '{}') as Sent
  const tokens = new Map(tools.map(tool => [tool.function.name, countTokens(JSON.stringify(tool))]))
  for (const own of OWN) expect(tokens.delete(own), own).toBe(true)
  const theirs = [...tokens].sort(([, a], [, b]) => b - a)
  expect(theirs).toHaveLength(43)
  const all = theirs.reduce((sum, [, each]) => sum + each, 0)
  expect(all, `the longest: ${theirs.slice(0, 8).join(' ')}`).toBeLessThanOrEqual(MOST_TOKENS)
})
