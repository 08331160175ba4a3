import { describe, expect, it } from 'vitest'
import { item, LEAN, openThread, RESULTS } from './testing/thread.ts'

const DAILY = { cron: '0 8 * * *', timezone: 'Europe/Berlin' }

describe('what is wanted at another time is not done now', () => {
  it.each<[string, string, Record<string, string>]>([
    ['every day at 8 how is this machine doing?', 'how is this machine doing?', DAILY],
    ['everyday at 8 how is this machine doing?', 'how is this machine doing?', DAILY],
    ['tell me every day at 8 how this machine is doing', 'how this machine is doing', DAILY],
    ['I want you to tell me every day at 8 how this machine is doing', 'how this machine is doing', DAILY],
    ['tell me how this machine is doing every day at 8', 'how this machine is doing', DAILY],
    ['tell me in 2 minutes how this machine is doing', 'how this machine is doing', { delay: '2m' }],
    ['let me know in 2 minutes how the disks are', 'how the disks are', { delay: '2m' }],
    ['in 2 minutes can you check the disks', 'check the disks', { delay: '2m' }],
    ['tell me tomorrow at 8 how the disks are', 'how the disks are', { at: '2026-11-22T07:00:00Z' }],
    ['show me the temperatures every morning at 8', 'show me the temperatures', DAILY],
    ['check the disks every day at 8 and tell me', 'check the disks and tell me', DAILY],
    ['everyday at 8 check the disks', 'check the disks', DAILY],
    ['at 8 check the disks', 'check the disks', { at: '2026-11-22T07:00:00Z' }],
  ])('%s', (sentence, reason, when) => {
    const tool = 'cron' in when ? 'schedule_cron' : 'schedule_wake'
    const thread = openThread()
    expect(thread.run(sentence).calls).toEqual([[tool, { ...when, reason }]])
    const woken = openThread().run(item('wake', 'schedule sch_1', reason)).calls
    expect(woken).toEqual([[/disk/.test(reason) ? 'get_disk_health' : 'get_system_metrics', {}]])
  })

  it.each([
    ['how is this machine doing every day at 8?', 'how is this machine doing', 'every day at 8'],
    ['how is this machine doing in 5 minutes?', 'how is this machine doing', 'in 5 minutes'],
    ['how is this machine doing tomorrow at 8?', 'how is this machine doing', 'tomorrow at 8'],
    ['is valheim running at 18:00?', 'is valheim running', 'at 18:00'],
    ['how are the disks tomorrow', 'how are the disks', 'tomorrow'],
    ['at 8 how is this machine doing?', 'how is this machine doing?', 'at 8'],
    ['tell me every day at 8 if a disk is failing', 'tell me if a disk is failing', 'every day at 8'],
    ['show me the temperatures at 18:00', 'show me the temperatures', 'at 18:00'],
    ['get_system_metrics every 10 minutes', 'get_system_metrics', 'every 10 minutes'],
    ['every day at 8 the disk health', 'the disk health', 'every day at 8'],
    ['shut down valheim at 23:00', 'shut down valheim', 'at 23:00'],
    [
      'run game command say bye in 5 minutes on valheim',
      'run game command say bye on valheim',
      'in 5 minutes',
    ],
  ])('where it is not plain, it is asked about: %s', (sentence, reason, phrase) => {
    const { calls, text } = openThread().run(sentence)
    expect(calls).toEqual([])
    expect(text).toContain(`Shall I remind you of “${reason}” ${phrase}? Say yes or no.`)
  })

  it('is set on yes, left alone on no, and asked about before tools are looked for', () => {
    const thread = openThread(LEAN, RESULTS)
    thread.run('how is this machine doing every day at 8?')
    const { calls, text } = thread.run('yes')
    expect(calls).toEqual([['schedule_cron', { ...DAILY, reason: 'how is this machine doing' }]])
    expect(text).toBe(
      "I'll remind you every day at 8: how is this machine doing (next: Sun 2026-11-22 08:00).",
    )
    thread.run('how is this machine doing in 5 minutes?')
    expect(thread.run('no')).toEqual({ text: 'All right, I left it alone.', calls: [] })
    thread.run('how is this machine doing in 5 minutes?')
    expect(thread.run('yes')).toEqual({
      text: "I'll remind you at 23:45: how is this machine doing.",
      calls: [['schedule_wake', { delay: '5m', reason: 'how is this machine doing' }]],
    })
  })

  it('"later" is asked about, and what must not be done is left alone', () => {
    const thread = openThread()
    expect(thread.run('check the disks later').text).toContain('I can remind you to check the disks.')
    expect(thread.run('in an hour').calls).toEqual([
      ['schedule_wake', { delay: '1h', reason: 'check the disks' }],
    ])
    expect(thread.run("don't check the disks every day")).toEqual({
      text: 'All right, I leave that alone.',
      calls: [],
    })
  })
})

describe('a time that belongs to what is asked or given is none to wait for', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['what is coming up in 3 days', 'get_upcoming', { days: 3 }],
    ['search media midnight in paris', 'search_media', { query: 'midnight in paris' }],
    ['request the movie "every day at 8"', 'request_movie', { title: 'every day at 8' }],
    [
      'send a notification to my phone: dinner is ready in 10 minutes',
      'send_notification',
      { channel: 'phone', message: 'dinner is ready in 10 minutes' },
    ],
    ['how is this machine doing today', 'get_system_metrics', {}],
    ["what's downloading tonight?", 'get_download_status', {}],
    ['which downloads failed at 18:30', 'get_download_history', {}],
    ['what was the cpu temperature at 18:30', 'get_system_metrics', {}],
    ['how hot was the cpu since yesterday at 8:30', 'get_system_metrics', {}],
    ['tell me when the disks are full', 'get_disk_health', {}],
  ])('%s', (sentence, tool, values) => {
    expect(openThread().run(sentence).calls).toEqual([[tool, values]])
  })
})
