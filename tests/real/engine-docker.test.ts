import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../servers/kit/clock.ts'
import { openEngine } from '../../servers/kit/engine/docker.ts'
import type { ContainerEvent } from '../../servers/kit/engine/engine.ts'
import { createRecord, until } from '../support/until.ts'
import { type Dockerd, startDockerd } from './setup/dockerd.ts'
import { testEngine } from './setup/engine-suite.ts'

let dockerd: Dockerd
beforeAll(async () => {
  dockerd = await startDockerd()
})
afterAll(() => dockerd?.[Symbol.asyncDispose]())

testEngine('Docker', () => ({ ...dockerd, command: dockerd.docker }))

test('an end for too much memory is told before the end, and health when it changes', async () => {
  const engine = openEngine({ name: 'docker', address: dockerd.socket, clock: systemClock })
  const events = createRecord<ContainerEvent>()
  const ending = new AbortController()
  const ready = Promise.withResolvers<void>()
  const following = engine.follow(events.add, ending.signal, ready.resolve)
  await ready.promise
  await dockerd.run('hungry', ['--memory', '20m'], 'sh', '-c', 'tail /dev/zero')
  await events.find('hungry died', ({ name, kind }) => name === 'hungry' && kind === 'die')
  const check = ['--health-cmd', 'false', '--health-interval', '1s', '--health-retries', '1']
  await dockerd.run('ill', check, 'sleep', '100')
  await events.find('ill is ill', ({ name, health }) => name === 'ill' && health === 'unhealthy')
  ending.abort()
  await following
  const hungry = events.all.filter(({ name }) => name === 'hungry')
  expect(hungry.map(({ kind, exitCode }) => [kind, exitCode])).toEqual([
    ['start', undefined],
    ['oom', undefined],
    ['die', 137],
  ])
})

test('an engine that ends while it is followed is told, and one that is gone is told', async () => {
  const other = await startDockerd()
  const engine = openEngine({ name: 'docker', address: other.socket, clock: systemClock })
  const ready = Promise.withResolvers<void>()
  const following = engine.follow(() => undefined, new AbortController().signal, ready.resolve)
  const ended = expect(following).rejects.toMatchObject({ kind: 'unreachable', transient: true })
  await ready.promise
  await other[Symbol.asyncDispose]()
  await ended
  await until('it is gone', () =>
    engine.version().then(
      () => false,
      () => true,
    ),
  )
  await expect(engine.list({})).rejects.toMatchObject({
    failure: { what: expect.stringContaining('could not be reached'), why: 'there is no such socket' },
  })
})
