import { expect, test } from 'vitest'
import { openTempStore } from '../../../tests/support/temp-store.ts'
import { getContextTool, storeContextTool } from './context.ts'

async function openMemory() {
  const store = await openTempStore()
  const at = (agent: string) => ({
    agent,
    thread: `thr_${agent}`,
    cycle: 'cyc_1',
    conversation: null,
    now: 1,
    afterCommit: () => expect.unreachable(),
  })
  return {
    put: (key: string, value: unknown, scope?: string, agent = 'homelab') =>
      store.write(tx => storeContextTool().run(tx, { key, value, ...(scope ? { scope } : {}) }, at(agent))),
    get: (key?: string, agent = 'homelab') =>
      store.write(tx => getContextTool().run(tx, key === undefined ? {} : { key }, at(agent))),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('what was stored is read back, of the agent and of the thread, and of nobody else', async () => {
  await using memory = await openMemory()
  expect((await memory.get()).text).toBe('Nothing is stored.')
  expect(await memory.put('wish', 'quiet at night')).toMatchObject({ isError: false, text: 'Stored wish.' })
  await memory.put('wish', 'loud', 'thread')
  await memory.put('limits', { cpu: 90 })
  await memory.put('wish', 'other', undefined, 'other')
  const all = await memory.get()
  expect(all.text).toBe('limits: {"cpu":90}\nwish: quiet at night\nwish: loud')
  expect((await memory.get('limits')).structured).toEqual({ facts: [{ key: 'limits', value: '{"cpu":90}' }] })
  expect((await memory.get('nothing')).text).toBe('Nothing is stored under nothing.')
})

test('an empty value forgets', async () => {
  await using memory = await openMemory()
  await memory.put('a', '1')
  expect((await memory.put('a', '')).text).toBe('Forgot a.')
  expect((await memory.get()).text).toBe('Nothing is stored.')
})

test('promise 9: what is stored fits into a window: a fact, their number, and all together', async () => {
  await using memory = await openMemory()
  expect(await memory.put('long', 'x'.repeat(8_001))).toMatchObject({ isError: true })
  expect(await memory.put('a', 'x'.repeat(7_999))).toMatchObject({ isError: false })
  expect(await memory.put('b', 'x'.repeat(8_000))).toMatchObject({ isError: false })
  expect(await memory.put('c', 'x')).toMatchObject({
    isError: true,
    text: expect.stringContaining('No room'),
  })
  // Another one's place, and one that replaces itself.
  expect(await memory.put('c', 'x', 'thread')).toMatchObject({ isError: false })
  expect(await memory.put('b', 'y'.repeat(7_000))).toMatchObject({ isError: false })
  for (let count = 2; count < 200; count++) await memory.put(`k${count}`, '1')
  expect(await memory.put('k200', '1')).toMatchObject({ isError: true })
  expect(await memory.put('k199', '2')).toMatchObject({ isError: false })
})
