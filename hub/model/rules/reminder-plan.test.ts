import { describe, expect, it } from 'vitest'
import type { ModelTool } from '../../core/model.ts'
import sample from './testing/sample-catalogue.json' with { type: 'json' }
import { message, NOW, openThread, TOOLS } from './testing/thread.ts'

describe('reminders', () => {
  it.each<[string, string, Record<string, string>, string]>([
    [
      'Remind me in 2 minutes to check the disks',
      'schedule_wake',
      { delay: '2m', reason: 'check the disks' },
      "I'll remind you at 23:42 to check the disks.",
    ],
    [
      'remind me to check my disks in an hour please',
      'schedule_wake',
      { delay: '1h', reason: 'check my disks' },
      "I'll remind you tomorrow at 00:40 to check your disks.",
    ],
    [
      'remind me that the cake is done in 30 seconds',
      'schedule_wake',
      { delay: '30s', reason: 'the cake is done' },
      "I'll remind you in 30 seconds that the cake is done.",
    ],
    [
      'Remind me at 18:30 to eat',
      'schedule_wake',
      { at: '2026-11-22T17:30:00Z', reason: 'eat' },
      "I'll remind you tomorrow at 18:30 to eat.",
    ],
    [
      'on Monday at 8 remind me to call mom',
      'schedule_wake',
      { at: '2026-11-23T07:00:00Z', reason: 'call mom' },
      "I'll remind you on Mon 2026-11-23 at 08:00 to call mom.",
    ],
    [
      'in half an hour check the disks',
      'schedule_wake',
      { delay: '30m', reason: 'check the disks' },
      "I'll remind you tomorrow at 00:10 to check the disks.",
    ],
    [
      'set a timer for 5 minutes',
      'schedule_wake',
      { delay: '5m', reason: 'it is time' },
      "I'll remind you at 23:45 that it is time.",
    ],
    [
      'in 2 minutes, remind me to check the disks',
      'schedule_wake',
      { delay: '2m', reason: 'check the disks' },
      "I'll remind you at 23:42 to check the disks.",
    ],
    [
      'at 18:00, please remind me to eat',
      'schedule_wake',
      { at: '2026-11-22T17:00:00Z', reason: 'eat' },
      "I'll remind you tomorrow at 18:00 to eat.",
    ],
    [
      'can you remind me to check the disks in 2 minutes?',
      'schedule_wake',
      { delay: '2m', reason: 'check the disks' },
      "I'll remind you at 23:42 to check the disks.",
    ],
    [
      'tell me in 10 minutes to go home',
      'schedule_wake',
      { delay: '10m', reason: 'go home' },
      "I'll remind you at 23:50 to go home.",
    ],
    [
      'remember to check the disks tomorrow at 9',
      'schedule_wake',
      { at: '2026-11-22T08:00:00Z', reason: 'check the disks' },
      "I'll remind you tomorrow at 09:00 to check the disks.",
    ],
    [
      'every day at 8 check the disks',
      'schedule_cron',
      { cron: '0 8 * * *', timezone: 'Europe/Berlin', reason: 'check the disks' },
      "I'll remind you every day at 8 to check the disks (next: Sun 2026-11-22 08:00).",
    ],
    [
      'every weekday at 7: morning report',
      'schedule_cron',
      { cron: '0 7 * * 1-5', timezone: 'Europe/Berlin', reason: 'morning report' },
      "I'll remind you every weekday at 7: morning report (next: Mon 2026-11-23 07:00).",
    ],
    [
      'check the disks every 15 minutes',
      'schedule_cron',
      { cron: '*/15 * * * *', timezone: 'Europe/Berlin', reason: 'check the disks' },
      "I'll remind you every 15 minutes to check the disks (next: Sat 2026-11-21 23:45).",
    ],
  ])('%s → %s %o', (sentence, tool, values, text) => {
    const reply = openThread().run(sentence)
    expect(reply.calls).toEqual([[tool, values]])
    expect(reply.text.split('\n')[0]).toBe(text)
  })

  it.each([
    'what happened at 18:30?',
    'at 18:30 the server crashed',
    'tell me what is coming up in 3 days',
    'show processes',
  ])('is none: %s', sentence => {
    expect(openThread().run(sentence).calls).not.toContainEqual([
      expect.stringMatching(/^schedule_/),
      expect.anything(),
    ])
  })

  it('asks when, and takes the next message as the answer', () => {
    const thread = openThread()
    expect(thread.run('remind me to call mom').text).toContain('I can remind you to call mom')
    const { calls, text } = thread.run('tomorrow at 9')
    expect(calls).toEqual([['schedule_wake', { at: '2026-11-22T08:00:00Z', reason: 'call mom' }]])
    expect(text).toBe("I'll remind you tomorrow at 09:00 to call mom.")
    thread.run('remind me to stretch')
    expect(thread.run('every hour').text).toBe(
      "I'll remind you every hour to stretch (next: Sun 2026-11-22 00:00).",
    )
  })

  it('says why a rhythm cannot be, and when the tool is lacking', () => {
    expect(openThread().run('remind me every 45 minutes to stand').text).toContain(
      '45 minutes do not fill an hour',
    )
    const uneven = [
      'every 90 minutes check the disks',
      'check the disks every 1.5 hours',
      'every hour and a half check the disks',
      'every 90 minutes how is this machine doing?',
    ]
    for (const sentence of uneven) {
      const { calls, text } = openThread().run(sentence)
      expect(calls).toEqual([])
      expect(text).toMatch(
        /^I can't set that reminder: above an hour I can only set whole hours; the nearest are every hour and every 2 hours\./,
      )
    }
    expect(openThread().run('every 13.5 hours look').text).toContain('every 12 hours and every day')
    expect(openThread(sample.servers as ModelTool[]).run('remind me in 5 minutes').text).toContain(
      'this agent has no `schedule_wake`',
    )
  })

  it('that could not be set are told of in the step after', () => {
    const thread = openThread(TOOLS, { schedule_wake: { text: 'too many schedules', isError: true } })
    thread.post([message('remind me in 5 minutes to eat')])
    thread.answer(thread.step())
    expect(thread.step().text).toMatch(/^Sorry, `schedule_wake` did not work: too many schedules/)
    const again = openThread()
    again.post([message('remind me in 5 minutes to eat')])
    again.answer(again.step())
    expect(again.step().text).toMatch(/^I'll remind you at 23:45 to eat\./)
  })

  it('are cancelled after a yes where only one other is there', () => {
    const only = { schedules: [{ id: 'sch_7', reason: 'water the plants' }] }
    const thread = openThread(TOOLS, { list_schedules: { text: '', structured: only } })
    expect(thread.run('cancel the reminder about the cat').text).toMatch(
      /only reminder is “water the plants”\. Shall I cancel it\?/,
    )
    const { calls, text } = thread.run('yes')
    expect(calls).toEqual([['cancel_schedule', { id: 'sch_7' }]])
    expect(text).toBe('Cancelled: sch_7.')
    expect(thread.run('cancel sch_7').calls).toEqual([['cancel_schedule', { id: 'sch_7' }]])
  })

  it('counts from when it was said', () => {
    const thread = openThread()
    const late = { ...message('remind me tomorrow at 9 to eat'), at: NOW - 3_600_000 }
    expect(thread.run(late).calls).toEqual([['schedule_wake', { at: '2026-11-22T08:00:00Z', reason: 'eat' }]])
  })

  it('are listed', () => {
    const { calls, text } = openThread().run('what reminders do I have?')
    expect(calls).toEqual([['list_schedules', {}]])
    expect(text).toContain('Your reminders:\n1. check the disks\n2. morning report (0 8 * * *)')
    const none = openThread(TOOLS, { list_schedules: { text: '', structured: { schedules: [] } } })
    expect(none.run('list my reminders').text).toContain('There are no reminders.')
  })

  it('are cancelled by what they are about; where that is open, the person chooses', () => {
    const thread = openThread()
    const direct = thread.run('cancel the reminder about the disks')
    expect(direct.calls).toEqual([
      ['list_schedules', {}],
      ['cancel_schedule', { id: 'sch_1' }],
    ])
    expect(direct.text).toContain('Cancelled: check the disks.')
    expect(thread.run('cancel a reminder').text).toContain('Which one shall I cancel?')
    expect(thread.run('the second one').calls.at(-1)).toEqual(['cancel_schedule', { id: 'sch_2' }])
  })

  it('wait until the other questions of the batch are answered', () => {
    const thread = openThread()
    const { calls, text } = thread.run('remind me at 18:30 to eat', 'are my disks ok')
    expect(calls.map(call => (call as string[])[0])).toEqual(['get_disk_health', 'schedule_wake'])
    expect(text).toMatch(
      /> remind me at 18:30 to eat\n\nI'll remind you tomorrow at 18:30 to eat\.\n\n> are my disks ok\n\n`get_disk_health`: All disks pass\./,
    )
  })
})
