import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { listRetired, syncAgents } from './agents.ts'

test('agents come, retire and come back with their files', async () => {
  await using store = await openTempStore()
  const sync = async (now: number, ...names: string[]) => {
    await store.write(tx => syncAgents(tx, names, now))
    return listRetired(store.db)
  }
  expect(await sync(1, 'b', 'a')).toEqual([])
  expect(await sync(2, 'b')).toEqual(['a'])
  expect(await sync(3)).toEqual(['a', 'b'])
  const rows = () => store.db.selectFrom('agents').selectAll().orderBy('name').execute()
  expect((await rows()).map(({ retired_at }) => retired_at)).toEqual([2, 3])
  expect(await sync(4, 'a')).toEqual(['b'])
  expect(await rows()).toMatchObject([
    { name: 'a', retired_at: null, created_at: 1 },
    { name: 'b', retired_at: 3 },
  ])
})
