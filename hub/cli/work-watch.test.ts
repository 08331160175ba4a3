import { expect, test } from 'vitest'
import { createWorkWatch } from './work-watch.ts'

const welcome = {
  type: 'welcome' as const,
  protocol: 1 as const,
  hub: { name: 'superbloom', version: '1' },
  you: { name: 'owner', role: 'owner' as const },
  agents: [{ name: 'zoe', description: '', status: 'sleeping' as const }],
  conversations: [{ id: 'phone', agents: ['zoe'], lastSeq: 0 }],
}
const agent = (name: string, status: 'active' | 'sleeping') => ({ type: 'agent' as const, name, status })

test('Ctrl+C stops once while an agent of the conversation works, and else leaves', () => {
  const watch = createWorkWatch('phone')
  watch.onFrame(welcome)
  watch.onFrame(agent('homelab', 'active'))
  expect(watch.mayStop()).toBe(false)
  watch.onFrame(agent('zoe', 'active'))
  expect([watch.mayStop(), watch.mayStop()]).toEqual([true, false])
  watch.onFrame(agent('zoe', 'sleeping'))
  watch.onFrame(agent('zoe', 'active'))
  expect(watch.mayStop()).toBe(true)
})
