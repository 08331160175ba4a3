import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { until } from '../../../tests/support/until.ts'
import { ok, slow, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { published, startPhone } from '../testing/phone.ts'
import { PIXEL, startNotifications } from '../testing/world.ts'

const HOUR = 3_600_000

describe('a restart', () => {
  test('goes on with what was not delivered', async () => {
    await using lab = await startPhone()
    lab.upstream.will(status(503))
    await lab.send({ message: 'hi', image: PIXEL })
    lab.upstream.will(undefined)
    await lab.world.restart()
    await until('its timer is set', () => lab.clock.pending === 1)
    await lab.clock.advance(7_000)
    await until('it is sent', async () => (await lab.world.newest())['status'] === 'sent')
    expect(lab.upstream.requests.map(({ method }) => method)).toEqual(['PUT', 'PUT'])
  })

  test('in the middle of a try takes it up again, and looks first whether it arrived', async () => {
    await using lab = await startPhone()
    lab.upstream.next(slow)
    const call = lab.send({ message: 'hi' })
    await lab.upstream.nextRequest()
    lab.upstream.route({ 'GET /lab/json': ok({ ...published, id: 'there', message: 'hi' }) })
    const restarted = lab.world.restart()
    await lab.clock.advance(10_000)
    await restarted
    await call
    await until('it is known as sent', async () => (await lab.world.newest())['status'] === 'sent')
    expect(await lab.world.newest()).toMatchObject({ upstreamId: 'there' })
    expect(lab.got()).toHaveLength(1)
  })

  test('keeps what waits for a channel that is gone for two days, then gives it up', async () => {
    await using lab = await startPhone()
    lab.upstream.will(status(503))
    await lab.send({ message: 'hi' })
    await lab.world.restart({})
    expect(await lab.world.newest()).toMatchObject({ status: 'retrying', kind: 'no longer configured' })
    await lab.clock.advance(48 * HOUR + 1)
    await lab.world.restart({})
    await until('given up', async () => (await lab.world.newest())['status'] === 'failed')
    const { text } = await lab.world.call('get_notification_history', { channel: 'phone', status: 'failed' })
    expect(text).toContain('no channel of this name is configured any more')
  })
})

test('a second process on the same outbox is refused, and says why', async () => {
  await using lab = await startPhone()
  await lab.send({ message: 'hi' })
  const environment = { ...lab.environment, NOTIFICATIONS_DATA: join(lab.world.folder, 'n.db') }
  await using other = await startNotifications(environment)
  const refused = await other.call('send_notification', { message: 'ho' })
  expect(refused.isError).toBe(true)
  expect(refused.text).toContain('another process has it open, and only one may')
  expect(lab.got().map(({ message }) => message)).toEqual(['hi'])
})

describe('an outbox that cannot be used', () => {
  test.each([
    ['no database', (file: string) => writeFileSync(file, 'this is a letter and not a database '.repeat(40))],
    ['a folder', (file: string) => mkdirSync(file)],
  ])('%s: nothing is sent, and it says where and what to do', async (_what, spoil) => {
    await using upstream = await startFaultyUpstream({ 'POST /': ok(published) })
    await using other = await startNotifications({})
    const file = join(other.folder, 'spoiled.db')
    spoil(file)
    await using world = await startNotifications({
      NTFY_URL: `${upstream.url}/lab`,
      NOTIFICATIONS_DATA: file,
    })
    const refused = await world.call('send_notification', { message: 'hi' })
    expect(refused.isError).toBe(true)
    expect(refused.text).toContain('The outbox cannot be opened, so nothing was sent.')
    expect(refused.text).toContain('NOTIFICATIONS_DATA')
    expect(upstream.requests).toEqual([])
  })

  test('full: it is said before anything is accepted', async () => {
    await using lab = await startPhone({ limit: { count: 1, per: '24h' } })
    await lab.send({ message: 'one' })
    await lab.send({ message: 'two' })
    const file = join(lab.world.folder, 'full.db')
    await lab.world.restart({ ...lab.environment, NOTIFICATIONS_DATA: file })
    copyFileSync(join(lab.world.folder, 'n.db'), file)
    const database = new Database(file)
    const copy = database.prepare(
      `insert into messages (id, request, channel, text, severity, dedupe, status, due, created_at)
       select ?, request, channel, text, severity, ?, status, due, created_at from messages where text = 'two' limit 1`,
    )
    database.transaction(() => {
      for (let waiting = 1; waiting < 1000; waiting++) copy.run(`n${waiting}`, `d${waiting}`)
    })()
    database.close()
    expect((await lab.send({ message: 'three' })).text).toContain('the outbox is full')
  })
})
