import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { runCli, startCli } from '../support/cli.ts'
import { openClient, textOf } from '../support/clients.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

let hub: TestHub
const model = createScriptedModel()
beforeEach(async () => {
  hub = await startTestHub({ overrides: { model } })
})
afterEach(() => hub[Symbol.asyncDispose]())

const run = (args: string[]) => runCli(args, { variables: hub.variables })

async function askAll(...texts: string[]): Promise<void> {
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  for (const text of texts) await chat.answerTo(await chat.say('homelab', text))
}

async function callHub(name: string, args: Record<string, unknown>) {
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  return await client.call(name, args)
}

const textsNow = async () => {
  const { structuredContent } = await callHub('hub_read_messages', { conversation: 'homelab' })
  return (structuredContent as { messages: { text: string }[] }).messages.map(({ text }) => text)
}

test('a backup of a running hub brings everything back, and a restore waits until the hub is stopped', async () => {
  model.script(say('noted'), say('that too'))
  await askAll('remember the moonstone')
  const made = await run(['backup'])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const file =
    /^(\S+superbloom-\d{8}-\d{6}\.(?:db|dump)): \d+\.\d MB, 2 messages in 1 conversation, 2 rows of history\. Verified\./.exec(
      made.stdout,
    )?.[1]
  expect(made.stdout).toContain(`superbloom restore ${file}`)
  expect(statSync(file ?? '').mode & 0o777).toBe(0o600)
  await askAll('forget it')

  const refused = await run(['restore', file ?? ''])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/already runs .* Stop it first/) })
  expect(refused.stderr).not.toContain('SUPERBLOOM_DATA')
  expect(await textsNow()).toHaveLength(4)
  await hub.stop()
  const restored = await run(['restore', file ?? ''])
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored from') })
  const [, undo = ''] = /To undo this: superbloom restore (\S+)/.exec(restored.stdout) ?? []
  await hub.start()
  expect(await textsNow()).toEqual(['remember the moonstone', 'noted'])
  await hub.stop()
  expect(await run(['restore', undo])).toMatchObject({ code: 0, stderr: '' })
  await hub.start()
  expect(await textsNow()).toHaveLength(4)
})

test('a backup that is killed leaves no file that looks whole', async () => {
  const file = join(hub.dataFolder, 'mine.db')
  for (let count = 0; count < 4; count++) {
    await using running = startCli(['backup', file], { variables: hub.variables })
    await until('it has begun, or is done', () =>
      readdirSync(hub.dataFolder).some(name => name.startsWith('mine.db')),
    )
    running.kill('SIGKILL')
    await running.ended()
    if (existsSync(file)) break
  }
  // A backup that was complete before the kill is whole, and is not overwritten.
  rmSync(file, { force: true })
  const made = await run(['backup', file])
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('Verified') })
  expect(readdirSync(hub.dataFolder).filter(name => name.startsWith('mine.db'))).toEqual(['mine.db'])
})

test('backup and restore say what is wrong with what they are given', async () => {
  await hub.stop()
  expect(await run(['restore', '/nowhere/at/all.db'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^superbloom: There is no file \/nowhere\/at\/all\.db/),
  })
  expect(await run(['restore', hub.configFile])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^superbloom: .* is no (?:database|backup) of Superbloom/),
  })
})

test('what was said, called and given is found by clients and by the agent itself, and gone once deleted', async () => {
  const search = call([['search_history', { query: 'moonstone', timeframe: '24h' }]])
  model.script(say('It is healthy.'), search, say('Found.'))
  await askAll('how is the moonstone?', 'what did I ask before?')
  const result = model.requests.all.at(-1)?.messages.at(-1)
  expect(result).toMatchObject({ role: 'tool', text: expect.stringContaining('how is the moonstone?') })

  const found = await callHub('hub_search_history', { query: 'moonst', since: '2020-01-01' })
  expect(found.structuredContent).toMatchObject({
    sessions: [
      { session: { thread: 'thr_homelab', reason: 'open', summary: '' }, snippets: [{ role: 'user' }] },
    ],
  })
  expect(textOf(found)).toMatch(/^Session 1 of thr_homelab, .*\n- .* user: .*how is the moonstone\?/)

  // A reset ends the session; a search still finds it, now with a summary.
  await callHub('hub_reset', { agent: 'homelab' })
  model.script(say('fresh'))
  await askAll('hello')
  expect((await callHub('hub_search_history', { query: 'moonstone' })).structuredContent).toMatchObject({
    sessions: [{ session: { number: 1, reason: 'reset', summary: expect.stringContaining('## Goal') } }],
  })
  for (const [args, words] of [
    [{ query: '"*!' }, /query: needs a word/],
    [{ query: 'x', timeframe: 'someday' }, /timeframe: "someday" is not understood/],
    [{ query: 'x', agent: 'nobody' }, /There is no agent nobody/],
  ] as const) {
    const refused = await callHub('hub_search_history', args)
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringMatching(words)])
  }

  const deleted = await callHub('hub_delete_conversation', { conversation: 'homelab' })
  expect(textOf(deleted)).toMatch(/^Deleted homelab: \d+ messages, \d+ rows of history/)
  expect((await callHub('hub_search_history', { query: 'moonstone' })).structuredContent).toEqual({
    sessions: [],
  })
  expect(await textsNow()).toEqual([])
})

test('the retention of the config is kept to by the running hub, on its clock', async () => {
  await hub[Symbol.asyncDispose]()
  const clock = createFakeClock()
  hub = await startTestHub({
    config: 'servers: { metrics: false }\nretention: { days: 40 }\n',
    overrides: { model, clock },
  })
  model.script(say('noted'))
  await askAll('old')
  clock.advance(41 * 86_400_000)
  await until('the old messages are gone', async () => {
    clock.advance(60_000)
    return (await textsNow()).length === 0
  })
})

test('hub_status counts what the store takes with its log', async () => {
  model.script(say('noted'))
  await askAll('hi')
  const { structuredContent } = await callHub('hub_status', {})
  const sizes = ['superbloom.db', 'superbloom.db-wal'].map(name => statSync(join(hub.dataFolder, name)).size)
  expect(structuredContent).toMatchObject({ store: { bytes: sizes.reduce((sum, size) => sum + size, 0) } })
})
