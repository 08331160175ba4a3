import { expect, test } from 'vitest'
import { complete } from './complete.ts'

const names = {
  agents: ['homelab', 'zoe'],
  conversations: ['homelab', 'homelab/nas', 'zoe'],
  approvals: [3, 31],
}

test.each([
  ['/', ['/approve ', '/deny ', '/help ', '/new topic ', '/open ', '/quit ', '/reset ', '/stop '], '/'],
  ['/a', ['/approve '], '/a'],
  ['/approve ', ['3 ', '31 '], ''],
  ['/deny 31', ['31 '], '31'],
  ['/open home', ['homelab', 'homelab/nas'], 'home'],
  ['what does @z', ['@zoe '], '@z'],
  ['see /etc/pas', [], '/etc/pas'],
  ['hello', [], 'hello'],
])('%j may go on with %j', (line, hits, part) => {
  expect(complete(line, names)).toEqual([hits, part])
})
