import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../support/temp-store.ts'
import { makeEmptyDatabase, server } from '../support/test-database.ts'
import { leads, makeMachine } from './machine.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server

/** The row by which a hub of a newer version records its migration. */
const MIGRATED = "insert into kysely_migration values ('999-newer', '2026-11-25T00:00:00.000Z')"
const UNDONE = "delete from kysely_migration where name = '999-newer'"
/** The first statement of such a hub: it takes the lead once that is over. */
const TAKEN = `
  update leader set epoch = epoch + 1, holder = 'newer', url = 'http://newer', until = clock_timestamp() + interval '1 hour';
  update leader_fence set epoch = (select epoch from leader)`

async function openWorld() {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await makeEmptyDatabase(at))
  const folder = stack.use(makeTempFolder())
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  stack.defer(() => client.end())
  const opened = stack.move()
  return {
    machine: (name: string) => makeMachine(database.url, { path: join(folder.path, name) }),
    ask: async (text: string) => (await client.query(text)).rows,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

test('a hub that waits does not follow one of a newer version: it ends, says why, and leaves the lead as it was', async () => {
  await using world = await openWorld()
  const [one, two] = [await world.machine('one'), await world.machine('two')]
  await using first = await one.start()
  await leads(first)
  await using second = await two.start()
  await second.says(/Superbloom waits/, 60_000)
  await world.ask(MIGRATED)
  first.signal('SIGKILL', 'group')
  await first.ended
  // The lease of the one that was killed ends without the wait.
  await world.ask('update leader set until = clock_timestamp()')
  const before = await world.ask('select epoch, holder, files from leader')
  expect((await second.ended).code).toBe(1)
  expect(second.stderr).toMatch(/A newer version of Superbloom wrote .*999-newer.* Start that version/)
  expect(await world.ask('select epoch, holder, files from leader')).toEqual(before)
  // Nor does it start, until the version is the one of the database.
  await using again = await two.start()
  expect((await again.ended).code).toBe(1)
  expect(again.stderr).toMatch(/A newer version of Superbloom wrote/)
  await world.ask(UNDONE)
  await using right = await two.start()
  await leads(right)
})

test('a hub that was paused while a newer version led and migrated writes nothing, and ends', async () => {
  await using world = await openWorld()
  const one = await world.machine('one')
  await using first = await one.start()
  await leads(first)
  first.signal('SIGSTOP')
  await world.ask(TAKEN)
  await world.ask(MIGRATED)
  const before = await world.ask("select value_json from hub_state where key = 'commit'")
  first.signal('SIGCONT')
  expect((await first.ended).code).toBe(1)
  expect(first.stderr).toContain('Another hub leads on this database now')
  expect(await world.ask("select value_json from hub_state where key = 'commit'")).toEqual(before)
  await using again = await one.start()
  expect((await again.ended).code).toBe(1)
  expect(again.stderr).toMatch(/A newer version of Superbloom wrote/)
})
