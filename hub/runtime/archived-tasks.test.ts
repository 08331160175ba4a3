import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { createArchive } from './retention.ts'

const DAY = 24 * 60 * 60_000

test('tasks that ended are archived after 15 days, each once', async () => {
  await using store = await openTempStore()
  const clock = createFakeClock(0)
  const archive = createArchive({ store, clock })
  expect(await archive.nextDue()).toBeUndefined()
  for (const [index, ended] of [DAY, 2 * DAY, null].entries()) {
    const thread = {
      id: `thr_${index}`,
      agent: 'homelab',
      kind: 'task' as const,
      status: 'complete' as const,
      window_start: 1,
      last_seq: 0,
      lease_owner: null,
      lease_until: null,
      fence: 0,
      created_at: 0,
      updated_at: 0,
      ended_at: ended,
    }
    await store.write(tx => tx.insertInto('threads').values(thread).execute())
  }
  const archived = async () =>
    (await store.db.selectFrom('threads').select('archived_at').orderBy('id').execute()).map(
      row => row.archived_at,
    )
  expect(await archive.nextDue()).toBe(16 * DAY)
  clock.advance(16 * DAY)
  await archive.fire()
  expect(await archived()).toEqual([16 * DAY, null, null])
  expect(await archive.nextDue()).toBe(17 * DAY)
  clock.advance(DAY)
  await archive.fire()
  expect(await archived()).toEqual([16 * DAY, 17 * DAY, null])
  expect(await archive.nextDue()).toBeUndefined()
})
