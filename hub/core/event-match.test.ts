import { expect, test } from 'vitest'
import type { EventWanted } from '../../schemas/inbox.ts'
import { isWanted } from './event-match.ts'

const cases: [EventWanted, boolean][] = [
  ['server_empty', true],
  ['server_*', true],
  ['*', true],
  ['server', false],
  [{ type: 'server_empty' }, true],
  [{ type: 'server_*', match: { server: 'atm-*' } }, true],
  [{ type: 'server_empty', match: { server: 'sky' } }, false],
  [{ type: 'server_empty', match: { server: 'atm-10', previousCount: 3 } }, true],
  [{ type: 'server_empty', match: { previousCount: 2 } }, false],
  [{ type: 'server_empty', match: { previousCount: '3' } }, true],
  [{ type: 'server_empty', match: { oom: true } }, false],
  [{ type: 'server_empty', match: { missing: '*' } }, true],
  [{ type: 'server_empty', match: { missing: '?' } }, false],
  [{ type: 'player_left', match: { server: 'atm-*' } }, false],
]

test.for(cases)('%j: %s', ([wanted, expected]) => {
  expect(isWanted(wanted, 'server_empty', { server: 'atm-10', previousCount: 3, oom: false })).toBe(expected)
})

const alert = {
  status: 'firing',
  'a.b': 'flat',
  names: ['ada', 'bob'],
  none: [],
  groupLabels: { alertname: 'InstanceDown' },
  alerts: [
    { labels: { alertname: 'InstanceDown', job: 'node' }, values: [1, 2] },
    { labels: { alertname: 'DiskFull' } },
  ],
}
const paths: [Record<string, string | number | boolean>, boolean][] = [
  [{ 'groupLabels.alertname': 'Instance*' }, true],
  [{ 'groupLabels.alertname': 'Disk*' }, false],
  [{ 'alerts.labels.alertname': 'DiskFull' }, true],
  [{ 'alerts.labels.job': 'node', status: 'firing' }, true],
  [{ 'alerts.labels.alertname': 'Other' }, false],
  [{ 'alerts.values': 2 }, true],
  [{ 'alerts.values': 3 }, false],
  [{ 'a.b': 'flat' }, true],
  [{ names: 'bob' }, true],
  [{ names: 'ada,bob' }, true],
  [{ names: 'carl' }, false],
  [{ none: 'x' }, false],
  [{ 'status.length': 6 }, false],
  [{ 'groupLabels.toString': '*native*' }, false],
  [{ 'alerts.length': 2 }, false],
]

test.for(paths)('a path into the payload: %j: %s', ([match, expected]) => {
  expect(isWanted({ type: 'webhook.*', match }, 'webhook.alertmanager', alert)).toBe(expected)
})
