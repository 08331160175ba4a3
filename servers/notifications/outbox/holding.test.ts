import { describe, expect, test } from 'vitest'
import { until } from '../../../tests/support/until.ts'
import { status } from '../../kit/testing/faulty-upstream.ts'
import { firstOf, startPhone } from '../testing/phone.ts'
import { NOON, withChannels } from '../testing/world.ts'

const HOUR = 3_600_000

describe('the same', () => {
  test('within the window is not sent again, and the next one says how many', async () => {
    await using lab = await startPhone({ dedupe: '5m' })
    await lab.send({ message: 'disk full' })
    const again = await lab.send({ message: 'disk full' })
    expect(again.text).toBe('Not sent again on phone (ntfy): the same went there just before (1 time since).')
    await lab.send({ message: 'disk full' })
    expect(lab.got()).toHaveLength(1)
    await lab.clock.advance(5 * 60_000)
    await lab.send({ message: 'disk full' })
    expect(lab.got()[1]?.message).toBe(
      'disk full\n\n(2 more like this came since the last and were not sent.)',
    )
  })

  test('is told by the key where there is one, else by the words', async () => {
    await using lab = await startPhone()
    const statusOf = async (args: Record<string, unknown>) => firstOf((await lab.send(args)).data)['status']
    expect(await statusOf({ message: '91 %', key: 'disk' })).toBe('sent')
    expect(await statusOf({ message: '92 %', key: 'disk' })).toBe('duplicate')
    expect(await statusOf({ message: '92 %' })).toBe('sent')
    expect(await statusOf({ message: '92 %', title: 'Disk' })).toBe('sent')
    expect(await statusOf({ message: '92 %', severity: 'critical' })).toBe('sent')
  })

  test('after a failure for good is sent; with dedupe off always', async () => {
    await using lab = await startPhone()
    lab.upstream.next(status(401))
    await lab.send({ message: 'hi' })
    expect(firstOf((await lab.send({ message: 'hi' })).data)['status']).toBe('sent')
    await using off = await startPhone({ dedupe: 'off' })
    await off.send({ message: 'hi' })
    expect(firstOf((await off.send({ message: 'hi' })).data)['status']).toBe('sent')
  })

  test('request by its key gives the same answer, also after a restart', async () => {
    await using lab = await startPhone({ dedupe: 'off' })
    const key = { idempotencyKey: 'call_1' }
    const one = await lab.send({ message: 'hi' }, key)
    expect(await lab.send({ message: 'hi' }, key)).toEqual(one)
    await lab.world.restart()
    expect((await lab.send({ message: 'hi' }, key)).data).toEqual(one.data)
    expect(lab.got()).toHaveLength(1)
    await lab.send({ message: 'hi' }, { idempotencyKey: 'call_2' })
    expect(lab.got()).toHaveLength(2)
  })
})

describe('the limit of a channel', () => {
  test('holds what is too much and sends it together, with a count', async () => {
    await using lab = await startPhone({ limit: { count: 2, per: '10m' } })
    await lab.send({ message: 'one' })
    await lab.clock.advance(60_000)
    await lab.send({ message: 'two' })
    const held = await lab.send({ message: 'three', title: 'T', severity: 'warning' })
    expect(held.text).toBe(
      'Accepted for phone (ntfy), held until 22 Nov 2026 12:10 UTC: the limit of this channel.',
    )
    await lab.clock.advance(60_000)
    await lab.send({ message: 'four' })
    await lab.clock.advance(8 * 60_000 - 1)
    expect(lab.got()).toHaveLength(2)
    await lab.clock.advance(1)
    await until('they are sent', async () => (await lab.world.newest())['status'] === 'sent')
    expect(lab.got()).toHaveLength(3)
    expect(lab.got()[2]).toMatchObject({
      title: "2 notifications, held by this channel's limit",
      message: '- 22 Nov 2026 12:01 UTC: [warning] **T**: three\n- 22 Nov 2026 12:02 UTC: four',
      priority: 4,
    })
    const { data } = await lab.world.call('get_notification_history', { limit: 2 })
    expect(data['notifications']).toMatchObject([
      { message: 'four', status: 'sent', upstreamId: 'abc123', notes: ['in one message with 1 other'] },
      { message: 'three', status: 'sent', upstreamId: 'abc123' },
    ])
  })

  test('a batch whose try failed goes out again as it was', async () => {
    await using lab = await startPhone({ limit: { count: 1, per: '1m' } })
    for (const message of ['one', 'two', 'three']) await lab.send({ message })
    lab.upstream.next(status(500))
    await lab.clock.advance(60_000)
    await until('it is tried', () => lab.got().length === 2)
    await until('it failed', async () => (await lab.world.newest())['status'] === 'retrying')
    await lab.send({ message: 'four' })
    await lab.clock.advance(10_000)
    await until('it is sent', () => lab.got().length >= 4)
    const messages = lab.got().filter(({ message }) => message.includes('two'))
    expect(messages).toHaveLength(2)
    expect(messages[0]).toEqual(messages[1])
    expect(messages[0]?.message).not.toContain('four')
  })
})

describe('quiet hours', () => {
  const quietHours = { from: '22:00', to: '07:00', timezone: 'UTC' }
  const NIGHT = NOON + 11 * HOUR

  test('hold until they end; critical passes', async () => {
    await using lab = await startPhone({ quietHours }, NIGHT)
    const held = await lab.send({ message: 'low' })
    expect(held.text).toBe('Accepted for phone (ntfy), held until 23 Nov 2026 07:00 UTC: quiet hours.')
    expect((await lab.send({ message: 'fire', severity: 'critical' })).text).toBe('Sent on phone (ntfy).')
    const listed = await lab.world.call('list_notification_channels')
    expect(listed.text).toMatch(/1 message waiting; last sent just now; quiet until 23 Nov 2026 07:00 UTC\.$/)
    await lab.clock.advance(8 * HOUR)
    await until('it is sent', () => lab.got().length === 2)
    expect(lab.got()[1]?.message).toBe('low\n\n(From 22 Nov 2026 23:00 UTC, held during quiet hours.)')
  })

  test('hold critical too where they are set so, and let go when they are taken out of the settings', async () => {
    await using lab = await startPhone({ quietHours: { ...quietHours, critical: 'hold' } }, NIGHT)
    expect(firstOf((await lab.send({ message: 'fire', severity: 'critical' })).data)).toMatchObject({
      status: 'held',
      hold: 'quiet',
    })
    await lab.world.restart(withChannels({ phone: { kind: 'ntfy', url: `${lab.upstream.url}/lab` } }))
    await until('it is sent', async () => (await lab.world.newest())['status'] === 'sent')
  })
})
