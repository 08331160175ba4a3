import { expect, test } from 'vitest'
import { failureOf } from '../../../kit/testing/failure-of.ts'
import { createFakeClock } from '../../../kit/testing/fake-clock.ts'
import { startFakeQuake3 } from '../../testing/fake-quake3.ts'
import { neverLoaded as never, openQuery as open } from '../../testing/open-query.ts'
import { loadGamedig } from '../gamedig/query.ts'
import { toQuake3Port } from './query.ts'

const players = [
  { name: '^1Ann', ping: 20 },
  { name: 'Bob\u0007', ping: 40 },
  { name: 'Grunt', ping: 0 },
]

test('people are players, bots are counted apart, and names are clean', async () => {
  await using fake = await startFakeQuake3()
  fake.players = players
  expect(await open({ type: 'q3a', port: fake.port }, { gamedig: never }).ask()).toEqual({
    name: 'Lab Q3',
    map: 'aggressor',
    version: 'ioq3 1.36',
    players: 2,
    maxPlayers: 8,
    bots: 1,
    names: ['Ann', 'Bob'],
    ping: expect.any(Number),
  })
})

test('bots are players where the settings say so', async () => {
  await using fake = await startFakeQuake3()
  fake.players = players
  const status = await open({ type: 'protocol-quake3', port: fake.port, countBots: true }).ask()
  expect(status).toMatchObject({ players: 3, bots: 0, names: ['Ann', 'Bob', 'Grunt'] })
})

test('an empty server has nobody, which is known', async () => {
  await using fake = await startFakeQuake3()
  expect(await open({ type: 'q3a', port: fake.port }).ask()).toMatchObject({ players: 0, names: [] })
})

test('a question that was lost is asked again', async () => {
  await using fake = await startFakeQuake3()
  const clock = createFakeClock()
  fake.answers = false
  const first = fake.nextQuestion()
  const asked = open({ type: 'q3a', port: fake.port }, { clock }).ask()
  await first
  fake.answers = true
  await clock.advance(1000)
  expect(await asked).toMatchObject({ players: 0 })
})

test('every game that gamedig asks so is asked so, at the same port', async () => {
  const family = Object.entries((await loadGamedig()).games).flatMap(([type, game]) =>
    game?.options.protocol === 'quake3' ? [{ type, ...game.options }] : [],
  )
  expect(family.length).toBeGreaterThan(10)
  for (const { type, port, port_query } of family) {
    expect(toQuake3Port(type, undefined), type).toBe(port_query ?? port)
  }
  expect(toQuake3Port('quake4', 1)).toBeUndefined()
})

test('one that is silent fails at its limit', async () => {
  await using fake = await startFakeQuake3()
  fake.answers = false
  const failure = await failureOf(open({ type: 'q3a', port: fake.port }, { limit: 150 }).ask())
  expect(failure).toMatchObject({
    kind: 'timeout',
    transient: true,
    failure: { where: `q3a at 127.0.0.1:${fake.port}` },
  })
})

test('one that does not run is told', async () => {
  const fake = await startFakeQuake3()
  await fake[Symbol.asyncDispose]()
  const failure = await failureOf(open({ type: 'q3a', port: fake.port }).ask())
  expect(failure).toMatchObject({ kind: 'unreachable', transient: true })
})

test('a name that cannot be resolved is told', async () => {
  const failure = await failureOf(open({ type: 'q3a', host: 'no-such-host.invalid', port: 27960 }).ask())
  expect(failure.failure.why).toContain('could not be resolved')
})

test('a cancelled question ends with the reason of its signal', async () => {
  await using fake = await startFakeQuake3()
  fake.answers = false
  const cancel = new AbortController()
  const asked = open({ type: 'q3a', port: fake.port }).ask(cancel.signal)
  cancel.abort(new Error('the client went away'))
  await expect(asked).rejects.toThrow('the client went away')
})
