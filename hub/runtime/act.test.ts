import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

test('a tool result is stored once: when the history has it, the ledger lets go of its copy', async () => {
  const text = 'a line of a log\n'.repeat(500)
  await using world = await openWorld({
    tools: [{ name: 'get_logs', reads: true, run: () => ({ text, isError: false, structured: { text } }) }],
  })
  world.model.script(call([['get_logs'], ['get_logs']]), say('Fine.'))
  await world.start()
  await world.post('How are the logs?')
  await world.idle()
  const rows = await world.store.db.selectFrom('tool_calls').select(['status', 'result_json']).execute()
  expect(rows.map(row => row.status)).toEqual(['ok', 'ok'])
  expect(rows.map(row => row.result_json?.length ?? 0).every(length => length < 100)).toBe(true)
  const held = await world.store.db.selectFrom('history').select('content_json').execute()
  expect(held.filter(row => row.content_json.includes('"callId"'))).toHaveLength(2)
})
