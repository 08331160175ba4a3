import { describe, expect, it } from 'vitest'
import { pickSchedule, readSchedules } from './schedules.ts'

const outcome = (text: string, structured?: unknown) => ({
  name: 'list_schedules',
  arguments: {},
  text,
  isError: false,
  structured,
})
const list = {
  schedules: [
    { id: 'sch_1', reason: 'check the disks', next_run: 1_795_300_800_000 },
    { id: 'sch_2', reason: 'morning report', cron: '0 8 * * *' },
  ],
}

describe('readSchedules', () => {
  it('reads data, JSON text and lines', () => {
    const expected = [
      { id: 'sch_1', label: 'check the disks (Sat 2026-11-21 23:40)' },
      { id: 'sch_2', label: 'morning report (0 8 * * *)' },
    ]
    expect(readSchedules(outcome('', list), 'Europe/Berlin')).toEqual(expected)
    expect(readSchedules(outcome(JSON.stringify(list.schedules)), 'Europe/Berlin')).toEqual(expected)
    expect(
      readSchedules(
        outcome('2 schedules\n- `sch_abc1`: check the disks, in 5 min\n- sch_abc2 report'),
        'UTC',
      ),
    ).toEqual([
      { id: 'sch_abc1', label: 'check the disks, in 5 min' },
      { id: 'sch_abc2', label: 'report' },
    ])
    expect(readSchedules(outcome('none'), 'UTC')).toEqual([])
  })
})

describe('pickSchedule', () => {
  const schedules = readSchedules(outcome('', list), 'UTC')
  it.each([
    ['the one about the disks', 'sch_1'],
    ['disk', 'sch_1'],
    ['the second one', 'sch_2'],
    ['2', 'sch_2'],
    ['the last', 'sch_2'],
    ['sch_2', 'sch_2'],
    ['the morning one', 'sch_2'],
    ['', undefined],
    ['all', undefined],
    ['the cat', undefined],
  ])('%s → %s', (words, expected) => {
    expect(pickSchedule(words, schedules)?.id).toBe(expected)
  })

  it('takes the only one without further words', () => {
    expect(pickSchedule('', schedules.slice(0, 1))?.id).toBe('sch_1')
    expect(pickSchedule('the cat', schedules.slice(0, 1))).toBeUndefined()
  })
})
