import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { readVerdict, saveVerdict } from './hub-state.ts'

test('a verdict is kept by server with its date', async () => {
  await using store = await openTempStore()
  expect(await readVerdict(store.db, 'x')).toBeUndefined()
  await store.write(tx => saveVerdict(tx, 'x', { verdict: '"legacy"', at: 1 }))
  await store.write(tx => saveVerdict(tx, 'x', { verdict: '"modern"', at: 2 }))
  expect(await readVerdict(store.db, 'x')).toEqual({ verdict: '"modern"', at: 2 })
})
