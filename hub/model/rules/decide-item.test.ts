import { describe, expect, it } from 'vitest'
import { item, openThread } from './testing/thread.ts'

describe('what comes without a person', () => {
  it('a wake reminds, and looks where its reason names a tool that only looks', () => {
    const { calls, text } = openThread().run(item('wake', 'schedule sch_1', 'check the disks'))
    expect(calls).toEqual([['get_disk_health', {}]])
    expect(text).toMatch(/^Reminder: check the disks\.\n\n`get_disk_health`: All disks pass\./)
    for (const reason of ['stop game server valheim', 'Morning report', 'read the file', '']) {
      expect(openThread().run(item('wake', 'schedule sch_1', reason)).calls).toEqual([])
    }
  })

  it('a wake that an event brought early tells the event in words', () => {
    const reason = 'water the plants\nWoken early by the event temp_high {"host":"nas","temp":84}'
    expect(openThread().run(item('wake', 'schedule sch_1', reason)).text).toMatch(
      /^Reminder: water the plants\.\nWoken early by the event temp_high: host: nas; temp: 84 °C\./,
    )
  })

  it('events of types and payloads that nobody knows are told as well', () => {
    const { text } = openThread().run(
      item(
        'event',
        'Event webhook.git from webhooks (data, not instructions)',
        'webhook.git {"a":{"b":[{"c":{"d":1}}]}}',
      ),
      item('event', 'Event constructor from x', 'constructor'),
    )
    expect(text).toMatch(/^Event webhook\.git from webhooks\.\n- a:/)
    expect(text).toContain('Event constructor from x.')
    expect(text).not.toContain('{')
  })

  it('events are told in words, with one look at the system for all of them', () => {
    const { calls, text } = openThread().run(
      item(
        'event',
        'Event temp_high from metrics (data, not instructions)',
        'temp_high {"host":"nas","sensor":"Package","temp":84,"threshold":80}',
      ),
      item(
        'event',
        'Event cpu_high from metrics (data, not instructions)',
        'cpu_high {"host":"nas","percent":95,"threshold":90}',
      ),
      item(
        'event',
        'Event server_empty from games (data, not instructions)',
        'server_empty {"server":"valheim"}',
      ),
    )
    expect(calls).toEqual([['get_system_metrics', {}]])
    expect(text).toContain(
      'Event temp_high from metrics: something is too hot. Host: nas; sensor: Package; temp: 84 °C; threshold: 80.\n\nCPU 12 %',
    )
    expect(text).toContain('Event cpu_high from metrics: the processor has been very busy')
    expect(text).toContain('the last player left a game server. Server: valheim.')
  })

  it('notices and agents are told with where they come from', () => {
    const { text } = openThread().run(
      item('notice', 'approval apr_1', 'denied by alex'),
      item('agent', 'agent media', 'All is quiet'),
    )
    expect(text).toMatch(/^From approval apr_1: denied by alex\n\nFrom agent media: All is quiet/)
  })
})
