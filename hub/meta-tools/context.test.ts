import { expect, test } from 'vitest'
import { openMetaTools } from '../../tests/support/meta-tools.ts'

async function openMemory() {
  const tools = await openMetaTools()
  const at = (agent: string, thread = `thr_${agent}`) => ({ agent, thread, now: 1 })
  return {
    put: (key: string, value: unknown, scope?: string, agent = 'homelab', thread?: string) =>
      tools.call('store_context', { key, value, ...(scope ? { scope } : {}) }, at(agent, thread)),
    get: (key?: string, agent = 'homelab') =>
      tools.call('get_context', key === undefined ? {} : { key }, at(agent)),
    [Symbol.asyncDispose]: () => tools[Symbol.asyncDispose](),
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
  expect(await memory.put('x'.repeat(101), '1')).toMatchObject({
    isError: true,
    text: expect.stringContaining('take a short name'),
  })
  expect(await memory.put('long', 'x'.repeat(4_001))).toMatchObject({
    isError: true,
    text: expect.stringContaining('at most 4000'),
  })
  for (let count = 0; count < 8; count++) {
    expect(await memory.put(`k${count}`, 'x'.repeat(4_000))).toMatchObject({ isError: false })
  }
  expect(await memory.put('more', 'x'.repeat(1_000))).toMatchObject({
    isError: true,
    text: expect.stringMatching(/No room: at most 100 facts with 32 KB.*the longest: k/),
  })
  // A fact of another owner, one that replaces itself, and one in place of a forgotten one have room.
  expect(await memory.put('more', 'x', 'thread')).toMatchObject({ isError: false })
  expect(await memory.put('k1', 'y'.repeat(3_000))).toMatchObject({ isError: false })
  await memory.put('k2', '  ')
  expect(await memory.put('more', 'x'.repeat(1_000))).toMatchObject({ isError: false })
  for (let count = 8; count < 100; count++) await memory.put(`k${count}`, '1')
  expect(await memory.put('k100', '1')).toMatchObject({ isError: true })
  expect(await memory.put('k99', '2')).toMatchObject({ isError: false })
})

test('by default a main thread remembers for its agent, a task for itself', async () => {
  await using memory = await openMemory()
  expect((await memory.put('a', '1')).structured).toEqual({ scope: 'agent', key: 'a', value: '1' })
  expect((await memory.put('a', '2', undefined, 'homelab', 'thr_task1')).structured).toEqual({
    scope: 'thread',
    key: 'a',
    value: '2',
  })
  expect((await memory.get()).text).toBe('a: 1')
})
