import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { makeDatabase, server } from '../support/test-database.ts'
import { until } from '../support/until.ts'
import { leads, makeMachine } from './machine.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server

test('promises 1 and 7: a hub that waits goes on where the one that led was killed, and fires what is due once', async () => {
  await using database = await makeDatabase(at)
  using folder = makeTempFolder()
  const one = await makeMachine(database.url, { path: join(folder.path, 'one') })
  const two = await makeMachine(database.url, { path: join(folder.path, 'two') })
  await using first = await one.start()
  await leads(first)
  await using second = await two.start()
  await second.says(/Superbloom waits: http:\/\/127\.0\.0\.1:\d+ leads/, 60_000)
  expect(await two.get('/healthz')).toEqual({ status: 200, text: '{"status":"standby"}' })
  for (const door of ['/readyz', '/mcp', '/'])
    expect(await two.get(door)).toMatchObject({ status: 503, text: expect.stringContaining(one.hub.url) })
  using chat = await openChat(one.hub)
  await chat.subscribe('homelab', 0)
  const answer = await chat.ask('homelab', 'remind me in 20 seconds to look at the disks')
  first.signal('SIGKILL', 'group')
  await first.ended
  await leads(second)
  using after = await openChat(two.hub)
  await after.subscribe('homelab', 0)
  await until('the reminder is there', () =>
    after.messages.some(({ seq, kind }) => seq > answer.seq && kind === 'agent'),
  )
  expect(after.messages.slice(0, answer.seq)).toEqual(chat.messages)
  // The one that was killed comes back to a hub that leads.
  await using back = await one.start()
  await back.says(/Superbloom waits/, 60_000)
  second.signal('SIGTERM')
  expect(await second.ended).toEqual({ code: 0, signal: null })
  await leads(back)
  using last = await openChat(one.hub)
  await last.subscribe('homelab', 0)
  await until('all is there', () => last.messages.length >= after.messages.length)
  expect(last.messages.filter(({ kind }) => kind === 'agent')).toHaveLength(2)
})

test('a hub that was paused past its lease ends without a word of its own, and the other leads', async () => {
  await using database = await makeDatabase(at)
  using folder = makeTempFolder()
  const one = await makeMachine(database.url, { path: join(folder.path, 'one') })
  const two = await makeMachine(database.url, { path: join(folder.path, 'two') })
  await using first = await one.start()
  await leads(first)
  await using second = await two.start()
  await second.says(/Superbloom waits/, 60_000)
  first.signal('SIGSTOP')
  await leads(second)
  first.signal('SIGCONT')
  expect((await first.ended).code).not.toBe(0)
  expect(first.stderr).toContain('Another hub leads')
  expect((await two.get('/readyz')).status).toBe(200)
})

test('a hub with other files does not follow one that was killed, says so, and can be told to; stopped in order, any may lead', async () => {
  await using database = await makeDatabase(at)
  using folder = makeTempFolder()
  const one = await makeMachine(database.url, { path: join(folder.path, 'one') })
  const two = await makeMachine(database.url, { path: join(folder.path, 'two'), config: 'timezone: UTC\n' })
  await using first = await one.start()
  await leads(first)
  first.signal('SIGKILL', 'group')
  await first.ended
  await using second = await two.start()
  await second.says(/the files here differ/, 60_000)
  second.signal('SIGTERM')
  expect(await second.ended).toEqual({ code: 0, signal: null })
  await using told = await two.start(['--accept-files'])
  await leads(told)
  told.signal('SIGTERM')
  await told.ended
  await using again = await one.start()
  await leads(again)
})
