import { expect, test } from 'vitest'
import { fakePod, fakeWorkload } from '../testing/fake-cluster.ts'
import { owns } from './restart.ts'

test.each([
  ['app=web', { app: 'web' }, 'games', true],
  ['app=web', { app: 'web' }, 'other', false],
  ['app=web,tier=front', { app: 'web' }, 'games', false],
  ['app in (web)', { app: 'web' }, 'games', false],
  ['', {}, 'games', false],
])('a workload of %j owns a pod with %j in %s: %s', (selector, labels, namespace, isOwned) => {
  const workload = { ...fakeWorkload('web', { selector }), namespace: 'games' }
  expect(owns(workload, { ...fakePod('web-1', { labels }), namespace })).toBe(isOwned)
})
