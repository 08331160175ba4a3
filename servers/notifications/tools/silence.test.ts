import { expect, test } from 'vitest'
import { until } from '../../../tests/support/until.ts'
import { type FaultyUpstream, ok, slow, startFaultyUpstream } from '../../kit/testing/faulty-upstream.ts'
import { startNotifications, withChannels } from '../testing/world.ts'

const toNtfy = ({ url }: FaultyUpstream, topic: string) => ({
  kind: 'ntfy',
  url: `${url}/${topic}`,
  token: 't',
})

/** Starts a phone whose ntfy takes the request and never answers, and two channels that do answer. */
async function start(more: (quiet: FaultyUpstream) => Record<string, Record<string, unknown>> = () => ({})) {
  const quiet = await startFaultyUpstream()
  quiet.will(slow)
  const well = await startFaultyUpstream({ 'POST /': ok({ id: 'm1', time: 1 }) })
  const channels = {
    phone: toNtfy(quiet, 'a'),
    ...more(quiet),
    tablet: toNtfy(well, 'b'),
    wall: toNtfy(well, 'c'),
  }
  const world = await startNotifications(withChannels(channels))
  return {
    quiet,
    well,
    world,
    /** Returns the outcome of a call on which `silent` channels do not answer. */
    async send(args: Record<string, unknown>, silent = 1) {
      const calling = world.call('send_notification', args)
      for (let asked = 0; asked < silent; asked++) {
        await until('it is asked', () => quiet.requests.length > asked)
        await world.clock.advance(8000)
      }
      return calling
    },
    async [Symbol.asyncDispose]() {
      const ending = world[Symbol.asyncDispose]()
      // The server waits a few seconds for running requests.
      await world.clock.advance(5000)
      await ending
      await quiet[Symbol.asyncDispose]()
      await well[Symbol.asyncDispose]()
    },
  }
}

test('a channel that stays silent is a failure and not "on its way"; the next channel is tried', async () => {
  await using lab = await start()
  const { isError, text, data } = await lab.send({ message: 'the disk is full' })
  expect(isError).toBe(false)
  expect(text).not.toContain('on its way')
  expect(text).toMatch(
    /^Not confirmed on phone \(ntfy\): "it has not answered for 8 s".*\nSent on tablet \(ntfy\)\./,
  )
  expect((data['deliveries'] as { channel: string }[]).map(({ channel }) => channel)).toEqual([
    'phone',
    'tablet',
  ])
  expect(lab.well.requests).toHaveLength(1)
})

test('a named channel that stays silent is a failure, and nobody else is told', async () => {
  await using lab = await start()
  const { isError, text } = await lab.send({ message: 'dinner', channel: 'phone' })
  expect(isError).toBe(true)
  expect(text).toContain('The notification has not arrived.')
  expect(text).toContain('it has not answered for 8 s')
  expect(text).toContain('do not send it there again')
  expect(text).toContain('Another channel is tablet, wall.')
  expect(lab.well.requests).toEqual([])
})

test('where the next one is silent too, another is tried', async () => {
  await using lab = await start(quiet => ({ watch: toNtfy(quiet, 'd') }))
  const { isError, text } = await lab.send({ message: 'x' }, 2)
  expect([isError, text.split('\n').length]).toEqual([false, 4])
  expect(text).toContain('Sent on tablet')
})
