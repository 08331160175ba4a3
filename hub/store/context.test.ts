import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { type ContextScope, readContext, removeContext, storeContext } from './context.ts'

test('facts are kept by owner and scope, replaced and forgotten by key', async () => {
  await using store = await openTempStore()
  const agent: ContextScope = { scope: 'agent', owner: 'homelab' }
  const thread: ContextScope = { scope: 'thread', owner: 'homelab' }
  await store.write(async tx => {
    await storeContext(tx, agent, { key: 'b', value: '1', power: 'person' }, 1)
    await storeContext(tx, agent, { key: 'a', value: '2', power: 'person' }, 1)
    await storeContext(tx, thread, { key: 'a', value: '3', power: 'person' }, 1)
    await storeContext(tx, { ...agent, owner: 'other' }, { key: 'a', value: '4', power: 'person' }, 1)
    await storeContext(tx, agent, { key: 'b', value: '5', power: 'person' }, 2)
  })
  expect(await readContext(store.db, agent)).toEqual([
    { key: 'a', value: '2' },
    { key: 'b', value: '5' },
  ])
  await store.write(tx => removeContext(tx, agent, 'a'))
  await store.write(tx => removeContext(tx, agent, 'never'))
  expect(await readContext(store.db, agent)).toEqual([{ key: 'b', value: '5' }])
  expect(await readContext(store.db, thread)).toEqual([{ key: 'a', value: '3' }])
})
