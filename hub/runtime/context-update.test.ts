import { expect, test } from 'vitest'
import type { HistoryContent, StoredFact } from '../../schemas/inbox.ts'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'
import { removeContext, storeContext } from '../store/context.ts'
import { decideContextUpdate } from './context-update.ts'

const fact = (key: string, value: string, scope: StoredFact['scope'] = 'agent') => ({ scope, key, value })
const batch = (facts?: StoredFact[], whole = false): HistoryContent => ({
  role: 'user',
  text: '[INBOX - 1 event]',
  items: [],
  ...(facts ? { facts } : {}),
  ...(whole ? { tellsContext: true } : {}),
})
const stored = (value: StoredFact, isError = false): HistoryContent => ({
  role: 'tool',
  callId: 'c',
  name: 'store_context',
  text: '',
  isError,
  structured: value,
})

test.each<[string, HistoryContent[], StoredFact[], ReturnType<typeof decideContextUpdate>]>([
  ['nothing told', [batch()], [fact('a', '1')], { kind: 'whole', facts: [fact('a', '1')] }],
  ['all told', [batch([fact('a', '1')], true)], [fact('a', '1')], undefined],
  ['a new one', [batch([], true)], [fact('a', '1')], { kind: 'changes', facts: [fact('a', '1')] }],
  [
    'another value',
    [batch([fact('a', '1')], true)],
    [fact('a', '2')],
    { kind: 'changes', facts: [fact('a', '2')] },
  ],
  ['one gone', [batch([fact('a', '1')], true)], [], { kind: 'changes', facts: [fact('a', '')] }],
  ['told that it is gone', [batch([fact('a', '1')], true), batch([fact('a', '')])], [], undefined],
  ['its own', [batch([], true), stored(fact('a', '1'))], [fact('a', '1')], undefined],
  ['its own, refused', [batch([], true), stored(fact('a', '1'), true)], [], undefined],
  [
    'the same key of the thread',
    [batch([fact('a', '1')], true)],
    [fact('a', '1'), fact('a', '1', 'thread')],
    { kind: 'changes', facts: [fact('a', '1', 'thread')] },
  ],
  [
    'told again since',
    [batch([fact('a', '1')], true), batch([fact('b', '1')], true)],
    [fact('b', '1')],
    undefined,
  ],
])('%s', (_name, window, facts, expected) => {
  expect(decideContextUpdate(window, facts)).toEqual(expected)
})

test('promise 8: what others change is told once in the next batch, and what stands before stays as it is', async () => {
  await using world = await openWorld()
  await world.start()
  const at = { scope: 'agent', owner: 'homelab' } as const
  const ask = async (text: string, ...turns: ReturnType<typeof say>[]) => {
    world.model.script(...turns)
    await world.post(text)
    await world.idle()
    return world.model.requests.all.at(-1)?.messages ?? []
  }
  await world.store.write(tx => storeContext(tx, at, { key: 'night', value: 'quiet', power: 'person' }, 1))
  await ask('one', call([['store_context', { key: 'own', value: 'mine' }]]), say('ok'))
  await world.store.write(tx => storeContext(tx, at, { key: 'night', value: 'loud', power: 'person' }, 2))
  const second = await ask('two', say('ok'))
  expect(second.at(-1)?.text).toContain('Stored context that changed:\n- night: loud\n')
  await world.store.write(tx => removeContext(tx, at, 'night'))
  const third = await ask('three', say('ok'))
  expect(third.at(-1)?.text).toContain('- night (forgotten)')
  const fourth = await ask('four', say('ok'))
  expect(fourth.at(-1)?.text).not.toContain('context')
  expect(fourth.slice(0, third.length)).toEqual(third)
})
