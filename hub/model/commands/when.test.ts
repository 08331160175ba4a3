import { expect, test } from 'vitest'
import { fromIso, toIso } from '../../core/clock.ts'
import { readWhen } from './when.ts'

const now = fromIso('2026-11-21T22:40:00Z') ?? 0 // Sat 23:40 in Berlin
const read = (text: string, timezone = 'Europe/Berlin') => {
  const when = readWhen(text, { now, timezone })
  if (when.kind === 'at') return [toIso(when.at), when.rest]
  return when.kind === 'cron' ? [when.cron, when.rest] : when.kind
}

test.each([
  ['in 2 hours check', '2026-11-22T00:40:00Z', 'check'],
  ['in 90s', '2026-11-21T22:41:30Z', ''],
  ['in 3 days water the plants', '2026-11-24T22:40:00Z', 'water the plants'],
  ['tomorrow at 9 call Ada', '2026-11-22T08:00:00Z', 'call Ada'],
  ['call Ada next friday at 5pm', '2026-11-27T16:00:00Z', 'call Ada'],
  ['2026-12-31 18:00 party', '2026-12-31T17:00:00Z', 'party'],
  ['morgen um 9 den Müll', '2026-11-22T08:00:00Z', 'den Müll'],
  ['demain à 9h', '2026-11-22T08:00:00Z', ''],
  ['mañana a las 9', '2026-11-22T08:00:00Z', ''],
  ['domani alle 9', '2026-11-22T08:00:00Z', ''],
  ['amanhã às 9', '2026-11-22T08:00:00Z', ''],
  ['over 20 minuten', '2026-11-21T23:00:00Z', ''],
  ['завтра в 9 утра', '2026-11-22T08:00:00Z', ''],
  ['明日の9時', '2026-11-22T08:00:00Z', ''],
])('%s is %s', (text, at, rest) => {
  expect(read(text)).toEqual([at, rest])
})

test('a wall-clock time is meant in the zone asked for, a span is not, whatever the clocks do between', () => {
  expect(read('tomorrow at 09:00', 'America/New_York')).toEqual(['2026-11-22T14:00:00Z', ''])
  expect(read('on 2027-03-28 at 09:00', 'Europe/Berlin')).toEqual(['2027-03-28T07:00:00Z', 'on'])
  expect(read('in 2 hours', 'Asia/Kathmandu')).toEqual(['2026-11-22T00:40:00Z', ''])
})

test.each([
  ['every day at 8 backup', '0 8 * * *', 'backup'],
  ['jeden Tag um 8 Backup', '0 8 * * *', 'Backup'],
  ['chaque lundi à 9h les poubelles', '0 9 * * 1', 'les poubelles'],
  ['every monday and thursday at 8pm', '0 20 * * 1,4', 'and'],
  ['every weekday at 7:30 standup', '30 7 * * 1-5', 'standup'],
  ['todos los lunes a las 9', '0 9 * * 1', ''],
  ['montags um 9 Müll', '0 9 * * 1', 'Müll'],
  ['täglich um 20 Uhr', '0 20 * * *', ''],
  ['every 2 hours drink', '0 */2 * * *', 'drink'],
  ['alle 30 Minuten lüften', '*/30 * * * *', 'lüften'],
])('%s is %s', (text, cron, rest) => {
  expect(read(text)).toEqual([cron, rest])
})

test.each([
  'at 9',
  'tomorrow at 5',
  'on monday',
  'next week',
  'yesterday at 17:00',
  'tonight at 8pm',
  '12/11 at 5pm',
  '12 november at 5pm',
  'in an hour and a half',
  'in 2 hours or 3',
  'at 25:00',
  'between 14:00 and 15:00',
  '2 hours after dinner',
  'every morning',
  'every 45 minutes',
  'every other day at 8',
  'every day at 8 until friday',
  'every month on the first at 8',
  'every day at 5',
])('%s is asked back', text => {
  expect(read(text)).toBe('unclear')
})

test.each(['check the disks', 'in einer halben Stunde', 'on 30 february at 8', 'each of the servers'])(
  '%s holds no time',
  text => {
    expect(read(text)).toBe('none')
  },
)
