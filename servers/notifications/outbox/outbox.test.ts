import { describe, expect, test } from 'vitest'
import { until } from '../../../tests/support/until.ts'
import { ok, slow, status } from '../../kit/testing/faulty-upstream.ts'
import { firstOf, published, startPhone } from '../testing/phone.ts'

const HOUR = 3_600_000

test('sends, and tells the receipt', async () => {
  await using lab = await startPhone()
  const sent = await lab.send({ message: 'the disk is full', title: 'Disk', channel: 'PHONE' })
  expect(sent.text).toBe('Sent on phone (ntfy).')
  expect(firstOf(sent.data)).toMatchObject({
    channel: 'phone',
    status: 'sent',
    upstreamId: 'abc123',
    attempts: 1,
  })
  expect(lab.got()).toMatchObject([{ message: 'the disk is full', title: 'Disk' }])
  expect(lab.clock.pending).toBe(0)
})

describe('a failure that passes', () => {
  test.each([
    ['500', status(500, 'oops'), false],
    ['502', status(502, 'bad gateway'), true],
    ['503', status(503, 'busy'), false],
  ])('%s: is tried again with back-off, and said so', async (_what, answer, mayBeRepeated) => {
    await using lab = await startPhone()
    lab.upstream.next(answer)
    const accepted = await lab.send({ message: 'hi' })
    expect(accepted.isError).toBe(false)
    expect(accepted.text).toMatch(/^Accepted for phone \(ntfy\), but a try failed: "/)
    expect(accepted.text).toMatch(/tried again at 22 Nov 2026 12:00 UTC/)
    expect(firstOf(accepted.data)).toMatchObject({ status: 'retrying', attempts: 1 })
    expect(firstOf(accepted.data)['mayBeRepeated'] ?? false).toBe(mayBeRepeated)
    expect(lab.clock.pending).toBe(1)
    await lab.clock.advance(7_000)
    const sent = await until('it is sent', async () => {
      const entry = await lab.world.newest()
      return entry['status'] === 'sent' && entry
    })
    expect(sent).toMatchObject({ attempts: 2, upstreamId: 'abc123' })
    expect(new Set(lab.got().map(one => one.sequence_id)).size).toBe(1)
    expect(lab.got().at(-1)?.message.includes('Sent again')).toBe(mayBeRepeated)
  })

  test('of an upstream that is down is tried again, grows, and is given up after a day', async () => {
    await using lab = await startPhone()
    await lab.upstream[Symbol.asyncDispose]()
    const accepted = await lab.send({ message: 'hi' })
    expect(accepted.text).toContain('could not be reached')
    expect(firstOf(accepted.data)['mayBeRepeated']).toBeUndefined()
    const delays: number[] = []
    for (let tries = 1; tries < 5; tries++) {
      const entry = await until('tried', async () => {
        const one = await lab.world.newest()
        return one['attempts'] === tries && one['status'] === 'retrying' && one
      })
      delays.push(Number(entry['until']) - lab.clock.now())
      await lab.clock.advance(Number(entry['until']) - lab.clock.now())
    }
    expect(delays.every((delay, index) => index === 0 || delay > (delays[index - 1] ?? 0))).toBe(true)
    await until('its fifth try failed', async () => {
      const one = await lab.world.newest()
      return one['attempts'] === 5 && one['status'] === 'retrying'
    })
    await lab.clock.advance(24 * HOUR)
    const over = await until('given up', async () => {
      await lab.clock.advance(15 * 60_000)
      const one = await lab.world.newest()
      return one['status'] === 'failed' && one
    })
    expect(over['fix']).toContain('given up')
    expect(lab.clock.pending).toBe(0)
  })

  test('is over for the others too as soon as one arrives', async () => {
    await using lab = await startPhone()
    lab.upstream.next({ kind: 'reset' }, { kind: 'reset' })
    await lab.send({ message: 'one' })
    lab.upstream.route({ 'GET /lab/json': ok('') })
    const two = await lab.send({ message: 'two' })
    expect(firstOf(two.data)['status']).toBe('retrying')
    expect(firstOf((await lab.send({ message: 'three' })).data)['status']).toBe('sent')
    await lab.clock.advance(1)
    await until('all are sent', () => lab.got().length === 5)
    expect(lab.got().map(({ message }) => message.split('\n')[0])).toEqual([
      'one',
      'two',
      'three',
      'one',
      'two',
    ])
  })
})

describe('a failure for good', () => {
  test.each([
    [
      'wrong token',
      status(401, { error: 'unauthorized' }),
      /did not accept the key[\s\S]*Check the token or password of phone/,
    ],
    ['forbidden', status(403, { error: 'forbidden' }), /does not allow this/],
    ['refused', status(400, { error: 'topic reserved' }), /refused this[\s\S]*topic reserved/],
    ['redirect', status(302, '', { location: 'http://elsewhere.example/' }), /sends elsewhere/],
    ['HTML', status(200, '<html>login</html>'), /did not answer with JSON/],
    ['garbage', status(200, '}{'), /did not answer with JSON/],
    ['another shape', ok({ nothing: 1 }), /a form that is not known/],
  ])('%s: fails at once, with what to do', async (_what, answer, words) => {
    await using lab = await startPhone()
    lab.upstream.next(answer)
    const failed = await lab.send({ message: 'hi' })
    expect(failed.isError).toBe(true)
    expect(failed.text).toMatch(words)
    expect(failed.text).not.toContain('tk_secret')
    expect(await lab.world.newest()).toMatchObject({ status: 'failed', attempts: 1 })
    expect(lab.clock.pending).toBe(0)
  })
})

test('a slow upstream: the call fails after 8 s, and the try goes on', async () => {
  await using lab = await startPhone()
  lab.upstream.next(slow)
  const call = lab.send({ message: 'hi' })
  await lab.upstream.nextRequest()
  await lab.clock.advance(8_000)
  expect((await call).isError).toBe(true)
  expect((await lab.world.newest())['status']).toBe('sending')
  await lab.clock.advance(2_000)
  await until('it is tried again later', async () => (await lab.world.newest())['status'] === 'retrying')
  lab.upstream.route({ 'GET /lab/json': ok({ ...published, id: 'late', message: 'hi' }) })
  await lab.clock.advance(7_000)
  await until('it is found', async () => (await lab.world.newest())['status'] === 'sent')
  expect(await lab.world.newest()).toMatchObject({ upstreamId: 'late' })
  expect(lab.got()).toHaveLength(1)
})

test('a client that goes away takes nothing back', async () => {
  await using lab = await startPhone()
  lab.upstream.next(slow)
  const leaving = new AbortController()
  const call = lab.world.call('send_notification', { message: 'hi' }, leaving.signal)
  await lab.upstream.nextRequest()
  leaving.abort(new Error('gone'))
  expect((await call).isError).toBe(true)
  await lab.clock.advance(17_000)
  await until('it is sent', async () => (await lab.world.newest())['status'] === 'sent')
})
