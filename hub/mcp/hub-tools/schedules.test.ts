import { expect, test } from 'vitest'
import { createIds } from '../../core/ids.ts'
import type { ScheduleRow } from '../../store/tables.ts'
import { toScheduleView } from './schedules.ts'

const ROW: ScheduleRow = {
  id: createIds(() => 1)('sch'),
  agent: 'homelab',
  thread_id: 'thr_homelab',
  kind: 'cron',
  cron: '0 8 * * *',
  timezone: 'UTC',
  reason: 'Morning report',
  next_run: 9,
  wake_on_events_json: '[]',
  conversation_id: null,
  status: 'active',
  created_by: 'owner',
  created_at: 1,
  last_run: 5,
  missed: 'latest',
  power: 'person',
  read_foreign: 0,
}

test('a schedule tells when it fired last, and nothing of that where it never did', () => {
  expect(toScheduleView(ROW)).toMatchObject({ nextRun: 9, lastRun: 5 })
  expect(toScheduleView({ ...ROW, last_run: null })).not.toHaveProperty('lastRun')
})
